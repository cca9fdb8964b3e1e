#!/bin/sh
# Installs what the tasks need on Debian 12 (as root), from packages.txt.
# Local sandboxes show /usr and little of /etc: LibreOffice finds its registry in a copy below /usr
# (CONFIGURATION_LAYERS in office/*.yaml).
set -e
cd "$(dirname "$0")"
sed 's/^[^:]*://' packages.txt | xargs apt-get install -y --no-install-recommends
mkdir -p /usr/local/share/agon-libreoffice
rm -rf /usr/local/share/agon-libreoffice/registry
cp -rL /etc/libreoffice/registry /usr/local/share/agon-libreoffice/ || test -f /usr/local/share/agon-libreoffice/registry/main.xcd
