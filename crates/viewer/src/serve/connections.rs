//! Takes connections: only so many, and none that sends its request drop by drop.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::patience::Patient;

/// How much of whom is borne.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    connections: usize,
    /// The headers of a request must have come by then; an idle connection ends then.
    headers: Duration,
    /// Who takes nothing of an answer for so long gets no more of it.
    taking: Duration,
}

pub(crate) const LIMITS: Limits = Limits {
    connections: 512,
    headers: Duration::from_secs(30),
    taking: Duration::from_secs(30),
};

/// Bytes of headers that are read at most.
const MOST_OF_HEADERS: usize = 64 << 10;

/// Answers that are still on their way when the server ends are given this long.
const LAST_ANSWERS: Duration = Duration::from_secs(2);

/// When there are no descriptors left, nobody can be served for this long.
const BREATH: Duration = Duration::from_millis(50);

/// Serves until `stop`, and gives the last answers a moment.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    limits: Limits,
    stop: CancellationToken,
) {
    let places = Arc::new(Semaphore::new(limits.connections));
    let connections = TaskTracker::new();
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        let Ok((stream, _)) = accepted else {
            sleep(BREATH).await;
            continue;
        };
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
            // Closed at once: it may come again.
            continue;
        };
        let (router, stop) = (router.clone(), stop.clone());
        connections.spawn(async move {
            connection(stream, router, limits, stop).await;
            drop(place);
        });
    }
    connections.close();
    // Who does not read his answer is dropped with the runtime.
    let _ = timeout(LAST_ANSWERS, connections.wait()).await;
}

async fn connection(stream: TcpStream, router: Router, limits: Limits, stop: CancellationToken) {
    // Answers are small, and somebody waits for each.
    let _ = stream.set_nodelay(true);
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(limits.headers)
        .max_buf_size(MOST_OF_HEADERS);
    let service = TowerToHyperService::new(router);
    let stream = TokioIo::new(Patient::new(stream, limits.taking));
    let connection = http.serve_connection(stream, service);
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        // Broken connections are their owner's trouble.
        _ = connection.as_mut() => return,
        () = stop.cancelled() => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = timeout(LAST_ANSWERS, connection).await;
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use axum::routing::get;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    const PLACES: usize = 3;
    /// Nothing takes so long.
    const PATIENCE: Duration = Duration::from_secs(60);

    /// With few places, and little patience.
    async fn start() -> SocketAddr {
        let limits = Limits {
            connections: PLACES,
            headers: Duration::from_millis(200),
            taking: Duration::from_millis(200),
        };
        let router = Router::new()
            .route("/", get(|| async { "here" }))
            .route("/large", get(|| async { vec![0u8; 64 << 20] }));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(serve(listener, router, limits, CancellationToken::new()));
        address
    }

    async fn sent(address: SocketAddr, request: &[u8]) -> TcpStream {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(request).await.unwrap();
        stream
    }

    /// Asks until there is a place.
    async fn answered(address: SocketAddr) {
        let request = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        let asking = async {
            loop {
                let mut answer = Vec::new();
                let mut stream = TcpStream::connect(address).await.unwrap();
                // One that is closed at once may not even take the request.
                let _ = stream.write_all(request).await;
                let _ = stream.read_to_end(&mut answer).await;
                if answer.ends_with(b"here") {
                    return;
                }
                sleep(BREATH).await;
            }
        };
        timeout(PATIENCE, asking).await.unwrap();
    }

    /// All places are taken by them, until their time is over.
    #[tokio::test]
    async fn silent_connections_keep_nobody_out() {
        let address = start().await;
        let mut silent = Vec::new();
        for begun in [&b""[..], b"GET / HT", b"GET / HTTP/1.1\r\nHost: a\r\n"] {
            silent.push(sent(address, begun).await);
        }
        assert_eq!(silent.len(), PLACES);
        answered(address).await;
    }

    #[tokio::test]
    async fn who_does_not_read_his_answer_keeps_nobody_out() {
        let address = start().await;
        let mut deaf = Vec::new();
        for _ in 0..PLACES {
            deaf.push(sent(address, b"GET /large HTTP/1.1\r\nHost: a\r\n\r\n").await);
        }
        answered(address).await;
        // Who reads, if slowly, gets all of it: what was on its way already, and then the end.
        let mut reader = sent(address, b"GET /large HTTP/1.0\r\n\r\n").await;
        let mut read = 0;
        let mut piece = vec![0; 4 << 20];
        while let count @ 1.. = reader.read(&mut piece).await.unwrap() {
            read += count;
        }
        assert!(read > 64 << 20);
    }
}
