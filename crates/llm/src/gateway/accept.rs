//! Takes the agent's connections: so many at a time, none that sends its request drop by drop, and none
//! beyond the end of the trial.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::desk::Desk;

/// Further ones wait until one of these is closed; descriptors are few, and trials many.
const MOST_CONNECTIONS: usize = 32;

/// The headers of a request must have come by then; an idle connection ends then.
const HEADERS: Duration = Duration::from_secs(10);

/// All headers of a request together.
const LONGEST_HEADERS: usize = 64 << 10;

/// When there are no descriptors left, nobody can be served for this long.
const BREATH: Duration = Duration::from_millis(50);

pub(super) async fn serve(
    listener: TcpListener,
    desk: Arc<Desk>,
    closed: CancellationToken,
    tasks: TaskTracker,
) {
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let accept = async {
        loop {
            let Ok(place) = Arc::clone(&places).acquire_owned().await else {
                return;
            };
            let Ok((stream, _)) = listener.accept().await else {
                sleep(BREATH).await;
                continue;
            };
            let (desk, closed) = (Arc::clone(&desk), closed.clone());
            tasks.spawn(async move {
                // Cut off in the middle of an answer, if need be.
                closed
                    .run_until_cancelled_owned(connection(stream, desk))
                    .await;
                drop(place);
            });
        }
    };
    closed.run_until_cancelled(accept).await;
}

async fn connection(stream: TcpStream, desk: Arc<Desk>) {
    // Somebody waits for every answer.
    let _ = stream.set_nodelay(true);
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(HEADERS)
        .max_buf_size(LONGEST_HEADERS);
    let service = service_fn(move |request| {
        let desk = Arc::clone(&desk);
        async move { Ok::<_, Infallible>(desk.answer(request).await) }
    });
    // Broken connections are their owner's trouble.
    let _ = http.serve_connection(TokioIo::new(stream), service).await;
}
