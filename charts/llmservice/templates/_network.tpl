{{/* Rules of egress that operator and activators share. */}}

{{- define "llmservice.toApiServer" -}}
{{- with .Values.networkPolicy.apiServer -}}
- ports:
    {{- range .ports }}
    - protocol: TCP
      port: {{ . }}
    {{- end }}
  {{- with .cidrs }}
  to:
    {{- range . }}
    - ipBlock:
        cidr: {{ . | quote }}
    {{- end }}
  {{- end }}
{{- end }}
{{- end }}

{{- define "llmservice.toEngines" -}}
- to:
    - namespaceSelector: {}
      podSelector:
        matchLabels:
          {{- include "llmservice.engineSelector" . | nindent 10 }}
  ports:
    - protocol: TCP
      port: http
{{- end }}
