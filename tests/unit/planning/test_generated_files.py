"""Configuration files that an engine asks for reach its container as annotations of the pod."""

from llmservice.planning.generated_files import file_annotations, generated_mounts

FILES = {"/app/config.yml": "port: 8001\n", "/etc/engine/config.yml": "quiet: true\n"}


def test_a_file_is_an_annotation_that_is_mounted_at_its_path() -> None:
    annotations = file_annotations(FILES)
    shown = {}
    for mount in generated_mounts(FILES):
        (item,) = mount.source["downwardAPI"]["items"]
        assert (mount.read_only, mount.sub_path) == (True, item["path"])
        key = item["fieldRef"]["fieldPath"].removeprefix("metadata.annotations['").removesuffix("']")
        shown[mount.path] = annotations[key]
    assert shown == FILES


def test_files_of_one_name_have_volumes_of_their_own() -> None:
    assert len({mount.name for mount in generated_mounts(FILES)}) == len(FILES)


def test_without_files_nothing_is_added() -> None:
    assert (file_annotations({}), generated_mounts({})) == ({}, ())
