//! A file copied to and from the disk by axum alone: as durable as the gateway's, and nothing else.

use std::path::PathBuf;

use axum::Router;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::StatusCode;
use axum::routing::put;
use futures_util::TryStreamExt as _;
use tokio::fs::File;
use tokio::io::{AsyncWriteExt as _, BufWriter};
use tokio_util::io::{ReaderStream, StreamReader};

/// In bytes: as much as the gateway reads and writes at once.
const BUFFER: usize = 256 << 10;

/// Where the copy is kept.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Copy {
    folder: PathBuf,
}

/// Serves one file.
pub(crate) async fn files(copy: Copy) -> anyhow::Result<()> {
    let path = copy.folder.join("file");
    let router = Router::new()
        .route("/file", put(write).get(read))
        .layer(DefaultBodyLimit::disable())
        .with_state(path);
    super::serve(router).await
}

async fn write(State(path): State<PathBuf>, body: Body) -> StatusCode {
    let copied = async {
        let mut bytes = StreamReader::new(body.into_data_stream().map_err(std::io::Error::other));
        let mut file = BufWriter::with_capacity(BUFFER, File::create(&path).await?);
        tokio::io::copy_buf(&mut bytes, &mut file).await?;
        file.flush().await?;
        file.get_ref().sync_all().await
    };
    copied.await.map_or(StatusCode::INTERNAL_SERVER_ERROR, |()| StatusCode::CREATED)
}

async fn read(State(path): State<PathBuf>) -> Result<Body, StatusCode> {
    let file = File::open(&path).await.map_err(|_| StatusCode::NOT_FOUND)?;
    Ok(Body::from_stream(ReaderStream::with_capacity(file, BUFFER)))
}
