{{/* Names, labels and selectors. Only what tells Helm's objects from kustomize's stands under "llmservice.labels". */}}

{{- define "llmservice.labels" -}}
app.kubernetes.io/name: llmservice-operator
app.kubernetes.io/part-of: llmservice
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "llmservice.selector" -}}
app.kubernetes.io/component: operator
app.kubernetes.io/name: llmservice-operator
app.kubernetes.io/part-of: llmservice
{{- end }}

{{- define "llmservice.activatorSelector" -}}
app.kubernetes.io/component: activator
app.kubernetes.io/name: llmservice-activator
app.kubernetes.io/part-of: llmservice
{{- end }}

{{- define "llmservice.uiSelector" -}}
app.kubernetes.io/component: ui
app.kubernetes.io/name: llmservice-operator
app.kubernetes.io/part-of: llmservice
{{- end }}

{{- define "llmservice.engineSelector" -}}
app.kubernetes.io/component: inference
app.kubernetes.io/managed-by: llmservice-operator
app.kubernetes.io/part-of: llmservice
{{- end }}

{{- define "llmservice.serviceAccount" -}}
{{ .Values.serviceAccount.name | default .Values.instanceName }}
{{- end }}

{{- define "llmservice.activatorAccount" -}}
{{ .Values.activator.serviceAccount.name | default "llmservice-activator" }}
{{- end }}

{{/* Namespaces with rights of their own, comma-separated: none in scope "cluster". */}}
{{- define "llmservice.namespaces" -}}
{{- if eq .Values.scope "namespaced" -}}
{{ .Values.namespaces | default (list .Release.Namespace) | uniq | sortAlpha | join "," }}
{{- end -}}
{{- end }}

{{/*
A role and its binding. Arguments: root, name, rules (a key of files/rights.yaml), namespace (empty: cluster-wide), account
(left out: the operator's).
*/}}
{{- define "llmservice.role" -}}
{{- $kind := empty .namespace | ternary "ClusterRole" "Role" -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $kind }}
metadata:
  name: {{ .name }}
  {{- with .namespace }}
  namespace: {{ . }}
  {{- end }}
  labels:
    {{- include "llmservice.labels" .root | nindent 4 }}
rules:
  {{- index (.root.Files.Get "files/rights.yaml" | fromYaml) .rules | toYaml | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $kind }}Binding
metadata:
  name: {{ .name }}
  {{- with .namespace }}
  namespace: {{ . }}
  {{- end }}
  labels:
    {{- include "llmservice.labels" .root | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {{ $kind }}
  name: {{ .name }}
subjects:
  - kind: ServiceAccount
    name: {{ .account | default (include "llmservice.serviceAccount" .root) }}
    namespace: {{ .root.Release.Namespace }}
{{- end }}
