//! The host's end of the socket to a sandbox's init: requests go out, answers find their caller.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::net::{RecvFlags, SendFlags};
use rustix::process::Pid;
use tokio::io::unix::AsyncFd;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::timeout;

use super::readiness::register;
use crate::init::wire::{self, Ask, LARGEST_ANSWER, Packet, Reply, Request, Say};

/// How long a request may wait for the socket: an init that works reads it at once.
pub(super) const SENDING: Duration = Duration::from_secs(60);

pub(super) struct Link {
    socket: AsyncFd<OwnedFd>,
    calls: Mutex<Calls>,
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Link")
    }
}

#[derive(Default)]
struct Calls {
    last: u64,
    waiting: HashMap<u64, UnboundedSender<Answer>>,
    hung_up: bool,
}

pub(super) struct Answer {
    pub(super) say: Say,
    pub(super) descriptor: Option<OwnedFd>,
}

impl Link {
    pub(super) fn new(socket: OwnedFd) -> io::Result<Arc<Self>> {
        Ok(Arc::new(Self {
            socket: register(socket)?,
            calls: Mutex::default(),
        }))
    }

    /// The init's pid, as the kernel tells it, once the init is there; `None` if it never was.
    pub(super) async fn hello(&self) -> io::Result<Option<Pid>> {
        let packet = self.receive(&mut vec![0; LARGEST_ANSWER]).await?;
        Ok(packet.and_then(|packet| packet.sender))
    }

    /// Hands answers to their callers until the init is gone.
    pub(super) async fn listen(self: Arc<Self>) {
        let mut buffer = vec![0; LARGEST_ANSWER];
        loop {
            let Packet {
                body: Reply { id, say },
                mut descriptors,
                ..
            } = match self.receive(&mut buffer).await {
                Ok(Some(packet)) => packet,
                // Whoever waits for it does so no longer than its deadline.
                Err(error) if error.kind() == io::ErrorKind::InvalidData => continue,
                Ok(None) | Err(_) => break,
            };
            let answer = Answer {
                say,
                descriptor: descriptors.pop(),
            };
            if let Some(caller) = self.lock().waiting.get(&id) {
                // A caller that has left meanwhile does not want it.
                let _ = caller.send(answer);
            }
        }
        let mut calls = self.lock();
        calls.hung_up = true;
        calls.waiting.clear();
    }

    async fn receive(&self, buffer: &mut [u8]) -> io::Result<Option<Packet<Reply>>> {
        loop {
            let mut ready = self.socket.readable().await?;
            let received =
                ready.try_io(|socket| wire::receive(socket, buffer, RecvFlags::DONTWAIT));
            if let Ok(received) = received {
                return received;
            }
        }
    }

    pub(super) async fn call(
        self: &Arc<Self>,
        ask: Ask,
        descriptors: &[OwnedFd],
    ) -> io::Result<Call> {
        let (caller, answers) = unbounded_channel();
        let id = {
            let mut calls = self.lock();
            if calls.hung_up {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            calls.last += 1;
            let id = calls.last;
            calls.waiting.insert(id, caller);
            id
        };
        let call = Call {
            id,
            answers,
            link: Arc::clone(self),
        };
        let bytes = wire::encode(&Request { id, ask })?;
        let descriptors: Vec<BorrowedFd<'_>> = descriptors.iter().map(AsFd::as_fd).collect();
        timeout(SENDING, self.send(&bytes, &descriptors)).await??;
        Ok(call)
    }

    async fn send(&self, bytes: &[u8], descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
        loop {
            let mut ready = self.socket.writable().await?;
            let sent =
                ready.try_io(|socket| wire::send(socket, bytes, descriptors, SendFlags::DONTWAIT));
            if let Ok(sent) = sent {
                return sent;
            }
        }
    }

    /// Asks for the end of a program, from where nothing can be awaited. If the socket is full
    /// just now, the sandbox's own end will do.
    pub(super) fn kill(&self, program: u64) {
        let request = Request {
            id: 0,
            ask: Ask::Kill { program },
        };
        if let Ok(bytes) = wire::encode(&request) {
            let _ = wire::send(self.socket.get_ref(), &bytes, &[], SendFlags::DONTWAIT);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request on its way; its answers are no longer wanted once it is dropped.
pub(super) struct Call {
    id: u64,
    answers: UnboundedReceiver<Answer>,
    link: Arc<Link>,
}

impl Call {
    pub(super) fn id(&self) -> u64 {
        self.id
    }

    pub(super) fn link(&self) -> &Link {
        &self.link
    }

    /// `None` when the init is gone.
    pub(super) async fn answer(&mut self) -> Option<Answer> {
        self.answers.recv().await
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        self.link.lock().waiting.remove(&self.id);
    }
}
