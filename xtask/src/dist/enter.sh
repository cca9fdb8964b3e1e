# Runs shell code as an ordinary user in a root file system, with nothing of the host but devices and the
# kernel: no network, no processes, no files. In namespaces of its own (unshare --mount --pid --fork), where
# the root is changed by pivot_root, because bubblewrap can't do its own in a plain chroot.
# Arguments: ROOT (a folder), CODE
set -eu
root=$1 code=$2

mount --bind "$root" "$root"
cd "$root"
mount -t proc proc proc
mount -t tmpfs -o mode=1777 tmpfs tmp
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs -o mode=755 tmpfs dev
for device in null zero full random urandom tty; do
    : >"dev/$device"
    mount --bind "/dev/$device" "dev/$device"
done
mkdir dev/shm dev/pts run/host
mount -t tmpfs -o mode=1777 tmpfs dev/shm
mount -t devpts -o newinstance,ptmxmode=666,mode=620 devpts dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
pivot_root . run/host
cd /
umount -l /run/host
rmdir /run/host

exec setpriv --reuid=1000 --regid=1000 --clear-groups \
    env -i HOME=/home/tester USER=tester PATH=/usr/local/bin:/usr/bin:/bin LANG=C.UTF-8 \
    sh -euc "cd; $code"
