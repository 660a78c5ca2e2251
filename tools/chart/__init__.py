"""What the chart and the one-file installation take from elsewhere in the repository: the CRD, rights, alerts, words.

Belongs here: copying and listing. Does not: deciding what is installed; that stands in manifests/ and in the chart.
"""
