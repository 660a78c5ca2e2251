{{/* The operator's settings: docs/reference/settings.md says what each of them means. */}}

{{- define "llmservice.image" -}}
{{ .Values.image.repository }}
{{- with .Values.image.digest }}@{{ . }}{{ else }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{- define "llmservice.environment" -}}
- name: LLMSERVICE_LOG_FORMAT
  value: {{ .Values.logFormat }}
- name: LLMSERVICE_PROBE_PORT
  value: "8081"
- name: LLMSERVICE_METRICS_PORT
  value: "8443"
- name: LLMSERVICE_LEASE_NAMESPACE
  valueFrom:
    fieldRef:
      fieldPath: metadata.namespace
{{- if .Values.inspection.enabled }}
- name: LLMSERVICE_INSPECTION_IMAGE
  value: {{ include "llmservice.image" . }}
{{- end }}
{{- if .Values.downloads.enabled }}
- name: LLMSERVICE_DOWNLOAD_IMAGE
  value: {{ include "llmservice.image" . }}
{{- end }}
{{- if .Values.activator.enabled }}
- name: LLMSERVICE_ACTIVATOR
  value: "on"
{{- end }}
{{- include "llmservice.servedNamespaces" . }}
{{- range $name, $value := include "llmservice.settings" . | fromYaml }}
{{- if $value }}
- name: LLMSERVICE_{{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}
{{- end }}

{{- define "llmservice.servedNamespaces" }}
{{- if eq .Values.scope "namespaced" }}
- name: LLMSERVICE_NAMESPACES
  {{- if .Values.namespaces }}
  value: {{ include "llmservice.namespaces" . }}
  {{- else }}
  valueFrom:
    fieldRef:
      fieldPath: metadata.namespace
  {{- end }}
{{- end }}
{{- end }}

{{- define "llmservice.activatorGrace" -}}
{{ add .Values.activator.maxWaitSeconds 30 }}
{{- end }}

{{- define "llmservice.activatorEnvironment" -}}
- name: LLMSERVICE_LOG_FORMAT
  value: {{ .Values.logFormat }}
- name: LLMSERVICE_ACTIVATOR_GRACE_SECONDS
  value: {{ include "llmservice.activatorGrace" . | quote }}
{{- include "llmservice.servedNamespaces" . }}
{{- range $name, $value := include "llmservice.activatorSettings" . | fromYaml }}
{{- if $value }}
- name: LLMSERVICE_{{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}
{{- end }}

{{/* What is left out when it is as good as the operator's own default. */}}
{{- define "llmservice.settings" -}}
{{- with .Values.engines -}}
ENGINE_HTTPS_PROXY: {{ .proxy.https | quote }}
ENGINE_HTTP_PROXY: {{ .proxy.http | quote }}
ENGINE_NO_PROXY: {{ .proxy.none | join "," | quote }}
HF_ENDPOINT: {{ .hfEndpoint | quote }}
IMAGE_MIRRORS: {{ include "llmservice.pairs" .imageMirrors | quote }}
PULL_SECRETS: {{ .pullSecrets | join "," | quote }}
TOLERATIONS: {{ if .tolerations }}{{ toJson .tolerations | quote }}{{ end }}
{{- end }}
DOWNLOADS_AT_ONCE: {{ ternary "" (toString .Values.downloads.atOnce) (eq (int .Values.downloads.atOnce) 4) | quote }}
DOWNLOAD_BANDWIDTH: {{ .Values.downloads.bandwidth | quote }}
INSPECTION: {{ ternary "" "never" .Values.inspection.enabled | quote }}
INSPECTION_SECONDS: {{ ternary "" (toString .Values.inspection.seconds) (eq (int .Values.inspection.seconds) 60) | quote }}
LOG_LEVEL: {{ ternary "" .Values.logLevel (eq .Values.logLevel "info") | quote }}
MONITORING_NAMESPACE: {{ .Values.monitoring.namespace | quote }}
TLS_CERT_FILE: {{ ternary "/var/run/secrets/llmservice-tls/tls.crt" "" (ne .Values.monitoring.tlsSecret "") | quote }}
TLS_KEY_FILE: {{ ternary "/var/run/secrets/llmservice-tls/tls.key" "" (ne .Values.monitoring.tlsSecret "") | quote }}
PLATFORM: {{ .Values.platform | quote }}
PROMETHEUS_URL: {{ .Values.prometheus.url | quote }}
PROMETHEUS_TOKEN_FILE: {{ ternary "/var/run/secrets/prometheus/token" "" (ne .Values.prometheus.tokenSecret.name "") | quote }}
WORKERS: {{ ternary "" (toString .Values.workers) (eq (int .Values.workers) 16) | quote }}
{{- end }}

{{- define "llmservice.activatorSettings" -}}
{{- with .Values.activator -}}
ACTIVATOR_HELD: {{ ternary "" (toString .maxHeld) (eq (int .maxHeld) 5000) | quote }}
ACTIVATOR_HELD_EACH: {{ ternary "" (toString .maxHeldPerService) (eq (int .maxHeldPerService) 500) | quote }}
ACTIVATOR_HELD_MIB: {{ ternary "" (toString .maxHeldMiB) (eq (int .maxHeldMiB) 256) | quote }}
ACTIVATOR_WAIT_SECONDS: {{ ternary "" (toString .maxWaitSeconds) (eq (int .maxWaitSeconds) 600) | quote }}
{{- end }}
LOG_LEVEL: {{ ternary "" .Values.logLevel (eq .Values.logLevel "info") | quote }}
{{- end }}

{{- define "llmservice.pairs" -}}
{{- $pairs := list -}}
{{- range $from, $to := . }}{{ $pairs = append $pairs (printf "%s=%s" $from $to) }}{{ end -}}
{{ $pairs | join "," }}
{{- end }}
