#!/usr/bin/env bash
# The step of action.yml: triage of a training command, its answer in the job summary and, if asked, as a comment.
# Inputs come as variables, never as text of this script: a command line is not a template.
set -uo pipefail

answer="${RUNNER_TEMP:-/tmp}/trainsleuth-answer.md"
words=(triage --time "$INPUT_SECONDS")
[ -n "${INPUT_SYMPTOM:-}" ] && words+=(--symptom "$INPUT_SYMPTOM")
[ -n "${INPUT_PYTHON:-}" ] && words+=(--python "$INPUT_PYTHON")

text="$("$TRAINSLEUTH" "${words[@]}" -- bash -c "$INPUT_COMMAND")"
code=$?

# five backticks: no line of the user's program can close the block
{
  echo "## trainsleuth"
  echo
  printf '`````text\n%s\n`````\n' "$(printf '%s' "$text" | head -c 60000 | sed 's/`````/` ` ` ` `/g')"
} > "$answer"

cat "$answer" >> "${GITHUB_STEP_SUMMARY:-/dev/stdout}"
{
  echo "code=$code"
  echo "notes=trainsleuth-notes.md"
} >> "${GITHUB_OUTPUT:-/dev/null}"

if [ "${INPUT_COMMENT:-false}" = true ] && [ -n "${PULL_REQUEST:-}" ]; then
  gh pr comment "$PULL_REQUEST" --body-file "$answer" --edit-last --create-if-none
fi

[ "${INPUT_FAIL:-true}" = true ] || exit 0
exit "$code"
