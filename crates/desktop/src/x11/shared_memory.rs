//! A piece of memory that the X server writes pixels into and we read: a memfd, passed over the
//! socket. The only file of the workspace with `unsafe` in it.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::ptr::NonNull;

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

#[derive(Debug)]
pub(crate) struct SharedMemory {
    fd: OwnedFd,
    start: NonNull<u8>,
    len: usize,
}

#[expect(
    unsafe_code,
    reason = "the mapping is plain memory owned by this value: nothing ties it to a thread"
)]
// SAFETY: see the reason; the pointer is never handed out but as slices that borrow the value.
unsafe impl Send for SharedMemory {}

#[expect(unsafe_code, reason = "shared references only read")]
// SAFETY: see the reason.
unsafe impl Sync for SharedMemory {}

impl SharedMemory {
    pub(crate) fn new(len: usize) -> io::Result<Self> {
        let len = len.max(1);
        let fd = memfd_create(
            "agon-frame",
            MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING,
        )?;
        let file = File::from(fd);
        file.set_len(len as u64)?;
        // Whoever gets the descriptor could else cut the file short, and reading beyond its end
        // would kill us.
        fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        let fd = OwnedFd::from(file);
        #[expect(unsafe_code, reason = "there is no safe way to map memory")]
        // SAFETY: a new mapping at an address of the kernel's choice, of a file that is `len` bytes
        // long and can't become shorter.
        let start = unsafe {
            mmap(
                std::ptr::null_mut(),
                len,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED | MapFlags::POPULATE,
                &fd,
                0,
            )?
        };
        let start = NonNull::new(start.cast::<u8>())
            .ok_or_else(|| io::Error::other("memory was mapped at 0"))?;
        Ok(Self { fd, start, len })
    }

    /// For the server.
    pub(crate) fn descriptor(&self) -> io::Result<OwnedFd> {
        self.fd.as_fd().try_clone_to_owned()
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        #[expect(unsafe_code, reason = "the view of the mapping")]
        // SAFETY: `start` is valid for `len` bytes as long as `self` is. A server writes only while it
        // carries out a capture, and nobody has this slice then: a frame is made from the memory
        // after the answer, and the memory is captured into again after the frame is gone. A server
        // that breaks this changes values of pixels, which nothing here relies on: they are read
        // once, as bytes.
        unsafe {
            std::slice::from_raw_parts(self.start.as_ptr(), self.len)
        }
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        #[expect(unsafe_code, reason = "the view of the mapping")]
        // SAFETY: as in `bytes`, and `self` is borrowed for us alone.
        unsafe {
            std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len)
        }
    }
}

impl Drop for SharedMemory {
    fn drop(&mut self) {
        #[expect(unsafe_code, reason = "the end of the mapping")]
        // SAFETY: mapped in `new` with this length, and no slice outlives `self`.
        let unmapped = unsafe { munmap(self.start.as_ptr().cast(), self.len) };
        debug_assert!(unmapped.is_ok());
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::*;

    #[test]
    fn what_is_written_to_the_descriptor_is_seen_in_memory() {
        let mut memory = SharedMemory::new(4096).unwrap();
        let file = File::from(memory.descriptor().unwrap());
        file.write_all_at(b"pixels", 10).unwrap();
        assert_eq!(&memory.bytes()[10..16], b"pixels");
        memory.bytes_mut()[10] = b'P';
        let mut read = [0; 6];
        file.read_exact_at(&mut read, 10).unwrap();
        assert_eq!(&read, b"Pixels");
    }

    #[test]
    fn nobody_can_take_memory_away() {
        let memory = SharedMemory::new(4096).unwrap();
        let file = File::from(memory.descriptor().unwrap());
        assert!(file.set_len(0).is_err());
        assert!(file.set_len(8192).is_err());
        assert_eq!(memory.len(), 4096);
    }
}
