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

const MOST_CONNECTIONS: usize = 512;

/// The headers of a request must have come by then; an idle connection ends then.
const HEADERS: Duration = Duration::from_secs(30);

/// Bytes of headers that are read at most.
const MOST_OF_HEADERS: usize = 64 << 10;

/// Answers that are still on their way when the server ends are given this long.
const LAST_ANSWERS: Duration = Duration::from_secs(2);

/// When there are no descriptors left, nobody can be served for this long.
const BREATH: Duration = Duration::from_millis(50);

/// Serves until `stop`, and gives the last answers a moment.
pub(crate) async fn serve(listener: TcpListener, router: Router, stop: CancellationToken) {
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
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
            connection(stream, router, stop).await;
            drop(place);
        });
    }
    connections.close();
    // Who does not read his answer is dropped with the runtime.
    let _ = timeout(LAST_ANSWERS, connections.wait()).await;
}

async fn connection(stream: TcpStream, router: Router, stop: CancellationToken) {
    // Answers are small, and somebody waits for each.
    let _ = stream.set_nodelay(true);
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(HEADERS)
        .max_buf_size(MOST_OF_HEADERS);
    let service = TowerToHyperService::new(router);
    let connection = http.serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        // Broken connections are their owner's trouble.
        _ = connection.as_mut() => return,
        () = stop.cancelled() => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = timeout(LAST_ANSWERS, connection).await;
}
