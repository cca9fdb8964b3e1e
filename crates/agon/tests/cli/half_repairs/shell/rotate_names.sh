# Quotes everything, but a name may begin like another and have line ends.
cd repo
sed -i 's/\$folder ]/"$folder" ]/; s/cd \$folder/cd "$folder"/; s/rm \$file/rm -- "$file"/; s/^for name in .*/backup_names | while IFS= read -r name; do/; s/    for file in .*/    backups_of "$name" | head -n -$keep | while IFS= read -r file; do/' bin/rotate
sed -i 's/ls \$1-\*/ls -- "$1"-[0-9]*/' lib/names.sh
