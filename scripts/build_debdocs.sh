#!/usr/bin/env bash
# build_debdocs.sh [OPTION..]: builds the corpus of experiments/long_sentences_debdocs; --help.
exec /usr/bin/python3 "$(dirname "${BASH_SOURCE[0]}")/build_debdocs.py" "$@"
