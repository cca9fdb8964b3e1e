#!/bin/sh
set -e
cd "$(dirname "$0")"
mkdir -p build
exec rustc --edition 2021 -C opt-level=1 -o build/vers src/main.rs
