#!/bin/sh
# Installs Agon for one user from its release archive, and removes it again. Needs no root.
set -eu
LC_ALL=C
export LC_ALL

usage() {
    cat <<'END'
Usage: sh agon-installer.sh [ARCHIVE] [OPTIONS]

Unpacks ARCHIVE (by default the one beside this file) to ~/.local: programs to bin, manual pages and
completions to share, and the README, documents and suites to share/agon. If SHA256SUMS lies beside the
archive, the archive must be as it says.

  --prefix DIR   install to DIR instead of ~/.local
  --force        replace files that Agon did not put there
  --uninstall    remove exactly what was installed
  --help         this text
END
}

say() {
    printf '%s\n' "$*"
}

die() {
    printf 'agon-installer: %s\n' "$*" >&2
    exit 1
}

has() {
    command -v "$1" >/dev/null 2>&1
}

# Everything is in functions, so that half a file, from a download that broke off, does nothing.
main() {
    archive='' prefix='' force='' work=install
    while [ $# -gt 0 ]; do
        case $1 in
        --prefix)
            [ $# -ge 2 ] || die "--prefix needs a folder"
            prefix=$2
            shift
            ;;
        --prefix=*) prefix=${1#*=} ;;
        --force) force=yes ;;
        --uninstall) work=uninstall ;;
        -h | --help)
            usage
            exit 0
            ;;
        -*) die "unknown option $1 (see --help)" ;;
        *)
            [ -z "$archive" ] || die "one archive at a time (see --help)"
            archive=$1
            ;;
        esac
        shift
    done
    if [ -z "$prefix" ]; then
        [ -n "${HOME:-}" ] || die "HOME is not set: say --prefix DIR"
        prefix=$HOME/.local
    fi
    case $prefix in
    /*) ;;
    *) prefix=$(pwd)/$prefix ;;
    esac
    prefix=${prefix%/}
    # What was installed: files, and folders with a slash at their end.
    list=$prefix/share/agon/installed.txt
    "$work"
}

install() {
    [ "$(uname -s) $(uname -m)" = "Linux x86_64" ] ||
        die "this is a release for Linux on x86_64, and this machine is $(uname -s) on $(uname -m)"
    find_archive
    check_sum
    made=''
    if [ ! -d "$prefix" ]; then
        mkdir -p "$prefix"
        made=yes
    fi
    # In the same file system, so that files come into their places whole, also over a program that runs.
    temporary=$(mktemp -d "$prefix/.agon-installer.XXXXXX")
    trap clean_up EXIT
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 143' TERM
    unpack
    version=$("$temporary/tree/bin/agon" --version 2>&1) ||
        die "this program does not start here (it needs glibc 2.35 or newer): $version"
    make_lists
    refuse_strangers
    put_in_place
    trap - EXIT
    rm -rf "$temporary"
    say "$version is installed: $prefix/bin/agon"
    say "Suites and documents are in $prefix/share/agon; \`agon doctor\` says what this machine lacks."
    case :${PATH:-}: in
    *:"$prefix/bin":*) ;;
    *)
        say "$prefix/bin is not on your PATH. Put this line into ~/.profile and log in again:"
        say "  export PATH=\"$prefix/bin:\$PATH\""
        ;;
    esac
}

find_archive() {
    if [ -z "$archive" ]; then
        here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
        for found in "$here"/agon-*-x86_64-linux.tar.zst; do
            [ -e "$found" ] || die "there is no agon-VERSION-x86_64-linux.tar.zst in $here: name one"
            [ -z "$archive" ] || die "there is more than one archive in $here: name one"
            archive=$found
        done
    fi
    [ -f "$archive" ] && [ -r "$archive" ] || die "can't read $archive"
    case $archive in
    /*) ;;
    *) archive=$(pwd)/$archive ;;
    esac
}

check_sum() {
    sums=$(dirname "$archive")/SHA256SUMS
    [ -f "$sums" ] || return 0
    wanted=''
    while read -r sum name; do
        if [ "${name#\*}" = "$(basename "$archive")" ]; then
            wanted=$sum
        fi
    done <"$sums"
    [ -n "$wanted" ] || die "$sums does not name $(basename "$archive")"
    has sha256sum || die "sha256sum is missing: it is part of coreutils"
    found=$(sha256sum <"$archive")
    [ "${found%% *}" = "$wanted" ] || die "$archive is damaged: it is not as $sums says"
}

# To the folder `tree`, where everything lies as it will under the prefix.
unpack() {
    mkdir "$temporary/unpacked" "$temporary/tree"
    if has zstd; then
        zstd -dqc "$archive" >"$temporary/tar" || die "can't unpack $archive"
        tar -xof "$temporary/tar" -C "$temporary/unpacked" || die "can't unpack $archive"
    elif has bsdtar; then
        bsdtar -xof "$archive" -C "$temporary/unpacked" || die "can't unpack $archive"
    else
        die "zstd is missing: install it and start again
  Debian, Ubuntu: sudo apt-get install zstd
  Fedora:         sudo dnf install zstd
  Arch:           sudo pacman -S zstd"
    fi
    for top in "$temporary"/unpacked/*; do
        [ -x "$top/bin/agon" ] || die "$archive is no release of Agon"
    done
    tree=$temporary/tree
    move "$top/bin" "$tree/bin"
    move "$top/man/man1" "$tree/share/man/man1"
    move "$top/completions/agon.bash" "$tree/share/bash-completion/completions/agon"
    move "$top/completions/_agon" "$tree/share/zsh/site-functions/_agon"
    move "$top/completions/agon.fish" "$tree/share/fish/vendor_completions.d/agon.fish"
    rmdir "$top/completions" "$top/man"
    move "$top" "$tree/share/agon"
}

move() {
    mkdir -p "$(dirname "$2")"
    mv "$1" "$2"
}

# `old`: what is there of an earlier installation. `new`: what there will be. Folders that somebody else made
# are in neither.
make_lists() {
    old=$temporary/old new=$temporary/new
    if [ -f "$list" ]; then
        sort -u "$list" >"$old"
    else
        : >"$old"
    fi
    (cd "$tree" && find . -type f) | sed 's|^\./||' >"$new.files"
    (cd "$tree" && find . -mindepth 1 -type d) | sed 's|^\./||' >"$new.folders"
    {
        cat "$new.files"
        if [ -n "$made" ] || grep -Fqx ./ "$old"; then
            echo ./
        fi
        while IFS= read -r folder; do
            if [ ! -d "$prefix/$folder" ] || grep -Fqx "$folder/" "$old"; then
                printf '%s/\n' "$folder"
            fi
        done <"$new.folders"
    } | sort -u >"$new"
}

refuse_strangers() {
    while IFS= read -r file; do
        there=$prefix/$file
        [ ! -d "$there" ] || die "$there is a folder: move it away first"
        if [ -z "$force" ] && { [ -e "$there" ] || [ -L "$there" ]; } && ! grep -Fqx "$file" "$old"; then
            die "$there is there already, and not from a release: move it away, or say --force"
        fi
    done <"$new.files"
}

put_in_place() {
    # First of all, so that whatever happens now can be removed.
    mkdir -p "$(dirname "$list")"
    sort -u "$old" "$new" >"$temporary/both"
    mv -f "$temporary/both" "$list"
    while IFS= read -r folder; do
        mkdir -p "$prefix/$folder"
    done <"$new.folders"
    while IFS= read -r file; do
        mv -f "$tree/$file" "$prefix/$file"
    done <"$new.files"
    comm -23 "$old" "$new" >"$temporary/gone"
    remove "$temporary/gone"
    mv -f "$new" "$list"
}

clean_up() {
    rm -rf "$temporary"
    if [ -n "$made" ]; then
        rmdir "$prefix" 2>/dev/null || :
    fi
}

uninstall() {
    [ -z "$archive" ] || die "--uninstall needs no archive"
    [ -f "$list" ] || die "no release of Agon is installed in $prefix"
    remove "$list"
    say "Agon is removed from $prefix. Run folders, ~/.config/agon and ~/.cache/agon were left alone."
}

# Files first, then folders, the innermost first; one that holds something else stays.
remove() {
    ! grep -Eq '^/|(^|/)\.\.(/|$)' "$1" || die "$1 names files outside of $prefix: it was changed"
    folders=$(grep '/$' "$1" | sort -r)
    grep -v '/$' "$1" | while IFS= read -r file; do
        rm -f "$prefix/$file"
    done
    rm -f "$1"
    printf '%s\n' "$folders" | while IFS= read -r folder; do
        case $folder in
        '') ;;
        ./) rmdir "$prefix" 2>/dev/null || : ;;
        *) rmdir "$prefix/$folder" 2>/dev/null || : ;;
        esac
    done
}

main "$@"
