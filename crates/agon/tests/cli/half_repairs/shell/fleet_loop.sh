# The two urgent points of the report alone.
cd repo
sed -i 's/^set -e$/set -eo pipefail/; s/read host; do/read -r host || [ "$host" ]; do/' bin/fleet
sed -i 's/\$words 2>&1/$words <\/dev\/null 2>\&1/; s/sed "s\/^\/\$host: \/"/sed "s|^|$host: |"/' lib/run.sh
