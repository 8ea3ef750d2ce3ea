//! PP-OCR models as an engine.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kit::{Code, Fault};
use ocr::models::{ModelError, Models};
use ocr::prepare::Prepared;
use ocr::word::Fragment;
use serde_json::json;
use tokio::sync::{OnceCell, Semaphore};

/// One picture.
const DEADLINE: Duration = Duration::from_secs(90);

/// Pictures read at the same time: one uses all processors.
const AT_ONCE: usize = 1;

/// The folder of models, which are loaded with the first call.
#[derive(Debug)]
pub(crate) struct ModelFolder {
    folder: PathBuf,
    models: OnceCell<Arc<Models>>,
    turns: Semaphore,
}

impl ModelFolder {
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { folder, models: OnceCell::new(), turns: Semaphore::new(AT_ONCE) }
    }

    /// The models; UNSUPPORTED if they cannot be loaded.
    pub(crate) async fn open(&self) -> Result<&Arc<Models>, Fault> {
        let load = || async {
            let folder = self.folder.clone();
            let loaded = tokio::task::spawn_blocking(move || Models::load(&folder)).await;
            match loaded.map_err(|error| Fault::internal(error.to_string()))? {
                Ok(models) => Ok(Arc::new(models)),
                Err(error) => Err(self.unusable(&error)),
            }
        };
        self.models.get_or_try_init(load).await
    }

    fn unusable(&self, error: &ModelError) -> Fault {
        let fix = "put det.onnx and rec.onnx of PP-OCR into the folder of --ocr-models, or start without it";
        let details = json!({"program": "pp-ocr", "package": "rapidocr (PyPI)", "fix": fix});
        Fault::unsupported(format!("the models cannot be used: {error}; {fix}")).details(details)
    }

    /// Reads a prepared picture, outside the threads of other calls.
    pub(crate) async fn read(
        &self,
        prepared: Prepared,
    ) -> Result<(Vec<Fragment>, Prepared), Fault> {
        let models = Arc::clone(self.open().await?);
        let turn = self.turns.acquire().await;
        let turn = turn.map_err(|error| Fault::internal(error.to_string()))?;
        let until = Instant::now() + DEADLINE;
        let read = tokio::task::spawn_blocking(move || {
            let fragments = models.read(&prepared, until);
            (fragments, prepared)
        });
        let (fragments, prepared) =
            read.await.map_err(|error| Fault::internal(error.to_string()))?;
        drop(turn);
        match fragments {
            Ok(fragments) => Ok((fragments, prepared)),
            Err(ModelError::TooLong) => {
                let message = "the models take too long for this picture; send it in smaller parts";
                Err(Fault::new(Code::Timeout, message).retryable(false))
            }
            Err(error) => Err(self.unusable(&error)),
        }
    }
}
