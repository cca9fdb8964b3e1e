# What is a backup, and of what. Works in the current folder.

# Every NAME of which there is a backup, once.
backup_names() {
    ls | grep -E -- '-[0-9]{8}\.tar(\.gz)?$' | sed -E 's/-[0-9]{8}\.tar(\.gz)?$//' | sort -u
}

# The backups of the name, oldest first.
backups_of() {
    ls $1-* | grep -E -- '-[0-9]{8}\.tar(\.gz)?$' | sort
}
