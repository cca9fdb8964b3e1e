//! Every address that is answered. Those of `/api` come from its table, from which its description is made
//! too.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, RawPathParams, Request, State};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::middleware;
use axum::response::Response;
use axum::routing::{MethodRouter, get, on};

use super::app::App;
use super::guard::{Guard, guard};
use super::reply::{Reader, trouble};
use super::{Asked, Reply, failed, page_routes, pictures};
use crate::api::{self, Does};
use crate::error::ViewerError;

/// Nobody has more to say than this.
const LARGEST_BODY: usize = 64 << 10;

/// How an answer is made, on a thread that may wait for files.
pub(crate) type Handler = fn(&App, &Asked) -> Result<Reply, ViewerError>;

pub(crate) fn router(app: Arc<App>, who: Arc<Guard>) -> Router {
    let mut router: Router<Arc<App>> = Router::new();
    for (path, handler) in page_routes::PAGES {
        router = router.route(path, answered(Method::GET, *handler));
    }
    for (path, handler) in pictures::PICTURES {
        router = router.route(path, answered(Method::GET, *handler));
    }
    for route in api::ROUTES {
        let method = match route.does {
            Does::Get(handler) => answered(Method::GET, handler),
            Does::Post(handler, _) => answered(Method::POST, handler),
            Does::Listen => get(api::feed),
        };
        router = router.route(route.path, method);
    }
    router
        .fallback(nothing)
        .method_not_allowed_fallback(not_so)
        .layer(DefaultBodyLimit::max(LARGEST_BODY))
        .layer(middleware::from_fn_with_state(who, guard))
        .with_state(app)
}

fn answered(method: Method, handler: Handler) -> MethodRouter<Arc<App>> {
    let answer = move |State(app): State<Arc<App>>,
                       parts: Result<RawPathParams, _>,
                       address: Uri,
                       headers: HeaderMap,
                       body: Result<Bytes, _>| async move {
        let reader = Reader::of(address.path());
        match make(app, handler, parts, &address, body).await {
            Ok(reply) => reply.send(&headers),
            Err(error) => failed(reader, &error),
        }
    };
    if method == Method::POST {
        on(axum::routing::MethodFilter::POST, answer)
    } else {
        get(answer)
    }
}

async fn make(
    app: Arc<App>,
    handler: Handler,
    parts: Result<RawPathParams, axum::extract::rejection::RawPathParamsRejection>,
    address: &Uri,
    body: Result<Bytes, axum::extract::rejection::BytesRejection>,
) -> Result<Reply, ViewerError> {
    let parts = parts.map_err(|error| ViewerError::BadRequest(error.to_string()))?;
    let body = body.map_err(|error| ViewerError::BadRequest(error.to_string()))?;
    let asked = Asked::new(&parts, address, body)?;
    app.work(move |app| handler(app, &asked)).await
}

async fn nothing(request: Request) -> Response {
    let reader = Reader::of(request.uri().path());
    let status = StatusCode::NOT_FOUND;
    trouble(
        reader,
        status,
        "Not found",
        "there is nothing at this address",
    )
}

async fn not_so(request: Request) -> Response {
    let reader = Reader::of(request.uri().path());
    let status = StatusCode::METHOD_NOT_ALLOWED;
    trouble(
        reader,
        status,
        "Not understood",
        "this address is asked in another way",
    )
}
