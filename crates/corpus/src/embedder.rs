//! Where the vectors of texts come from.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use language::model::StaticModel;
use llm::{Model, ModelError};
use proto::{Blame, Code, Failure, digest};
use store::VectorModel;
use tokio::sync::OnceCell;
use tokio::task::spawn_blocking;

/// A text whose vector distinguishes two models of the same name and size.
const PROBE: &str = "the heat of a city, a tree in the snow, and people in a house by the water";

/// Makes vectors of texts.
#[derive(Clone)]
pub enum Embedder {
    /// A table of token vectors in memory.
    Static { model: Arc<StaticModel>, about: VectorModel },
    /// A model behind an endpoint.
    Remote { model: Model, about: VectorModel },
}

impl Embedder {
    /// A static model; its folder's name and a digest name it.
    pub fn of_static(model: StaticModel, folder: &str) -> Self {
        let probe = model.embed(PROBE).unwrap_or_default();
        let digest = digest(&super::matrix::stored(&probe)).to_string();
        let digest = digest.rsplit(':').next().unwrap_or_default();
        let name = format!("{folder}@{}", digest.get(..8).unwrap_or(digest));
        let about = VectorModel { name, dimensions: model.dimensions() as u64 };
        Self::Static { model: Arc::new(model), about }
    }

    /// A model behind an endpoint. It is asked for a vector to learn how many numbers that has.
    async fn of_remote(model: Model) -> Result<Option<Self>, Failure> {
        let Some(options) = model.embeddings() else { return Ok(None) };
        let name = options.name.clone();
        let dimensions = match options.dimensions {
            Some(dimensions) => dimensions,
            None => {
                let probe = model.embed(&[PROBE.to_owned()]).await.map_err(no_answer)?;
                probe.first().map_or(0, Vec::len)
            }
        };
        let about = VectorModel { name, dimensions: dimensions as u64 };
        Ok(Some(Self::Remote { model, about }))
    }

    /// Its name and the length of its vectors.
    pub fn about(&self) -> &VectorModel {
        match self {
            Self::Static { about, .. } | Self::Remote { about, .. } => about,
        }
    }

    /// The unit vector of each text; none for a text that the model knows nothing of.
    pub async fn embed(&self, texts: Vec<String>) -> Result<Vec<Option<Vec<f32>>>, Failure> {
        match self {
            Self::Static { model, .. } => {
                let model = Arc::clone(model);
                let work = move || texts.iter().map(|text| model.embed(text)).collect();
                spawn_blocking(work).await.map_err(|error| {
                    Failure::new(Code::Internal, "the vectors could not be computed")
                        .blame(Blame::Gateway)
                        .caused_by(error)
                })
            }
            Self::Remote { model, .. } => {
                let vectors = model.embed(&texts).await.map_err(no_answer)?;
                Ok(vectors.into_iter().map(unit).collect())
            }
        }
    }
}

impl fmt::Debug for Embedder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Embedder").field(self.about()).finish()
    }
}

fn no_answer(error: ModelError) -> Failure {
    let message = format!("the model for vectors gives no answer: {error}");
    Failure::new(Code::Unavailable, message).caused_by(error)
}

/// The vector with length one; none for zero.
fn unit(mut vector: Vec<f32>) -> Option<Vec<f32>> {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    if !length.is_normal() {
        return None;
    }
    vector.iter_mut().for_each(|x| *x /= length);
    Some(vector)
}

/// The configured embedder, which is read when it is first needed. A model behind an endpoint comes before a static one.
#[derive(Debug, Default)]
pub(super) struct EmbedderSlot(Mutex<Slots>);

#[derive(Debug, Default)]
struct Slots {
    folder: Option<PathBuf>,
    of_folder: Arc<Configured>,
    of_model: Option<Arc<Configured>>,
}

#[derive(Default)]
struct Configured {
    source: Source,
    read: OnceCell<Option<Arc<Embedder>>>,
}

#[derive(Clone, Default)]
enum Source {
    #[default]
    None,
    Folder(PathBuf),
    Model(Model),
}

impl fmt::Debug for Configured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Configured").field("read", &self.read).finish_non_exhaustive()
    }
}

impl From<Source> for Arc<Configured> {
    fn from(source: Source) -> Self {
        Self::new(Configured { source, read: OnceCell::new() })
    }
}

impl EmbedderSlot {
    /// Uses the static model of this folder from now on.
    pub(super) fn set_folder(&self, folder: Option<PathBuf>) {
        let mut slots = self.slots();
        if slots.folder != folder {
            slots.of_folder = folder.clone().map_or(Source::None, Source::Folder).into();
            slots.folder = folder;
        }
    }

    /// Uses the vectors of a model behind an endpoint from now on, if it makes some.
    pub(super) fn set_model(&self, model: Option<Model>) {
        let model = model.filter(|model| model.embeddings().is_some());
        self.slots().of_model = model.map(|model| Source::Model(model).into());
    }

    /// Uses this one from now on.
    pub(super) fn set(&self, embedder: Option<Embedder>) {
        let read = OnceCell::new_with(Some(embedder.map(Arc::new)));
        self.slots().of_folder = Arc::new(Configured { source: Source::None, read });
    }

    /// A key that changes with the configured model. The model is not read for it.
    pub(super) fn key(&self) -> String {
        let current = self.current();
        match (current.read.get(), &current.source) {
            (Some(Some(embedder)), _) => embedder.about().name.clone(),
            (Some(None), _) | (None, Source::None) => String::new(),
            (None, Source::Folder(folder)) => folder.to_string_lossy().into_owned(),
            (None, Source::Model(model)) => {
                model.embeddings().map(|options| options.name.clone()).unwrap_or_default()
            }
        }
    }

    fn slots(&self) -> MutexGuard<'_, Slots> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn current(&self) -> Arc<Configured> {
        let slots = self.slots();
        Arc::clone(slots.of_model.as_ref().unwrap_or(&slots.of_folder))
    }

    /// The embedder; none if there is none or its folder cannot be read. An endpoint that gives no answer is asked again
    /// the next time.
    pub(super) async fn get(&self) -> Result<Option<Arc<Embedder>>, Failure> {
        let current = self.current();
        let read = current.read.get_or_try_init(|| open(current.source.clone())).await?;
        Ok(read.clone())
    }
}

async fn open(source: Source) -> Result<Option<Arc<Embedder>>, Failure> {
    match source {
        Source::None => Ok(None),
        Source::Folder(folder) => Ok(open_folder(folder).await.map(Arc::new)),
        Source::Model(model) => Ok(Embedder::of_remote(model).await?.map(Arc::new)),
    }
}

async fn open_folder(folder: PathBuf) -> Option<Embedder> {
    let name = folder.file_name().map(|name| name.to_string_lossy().into_owned());
    let read = spawn_blocking(move || StaticModel::open(&folder)).await;
    match read {
        Ok(Ok(model)) => Some(Embedder::of_static(model, &name.unwrap_or_default())),
        Ok(Err(error)) => {
            tracing::warn!(%error, "`embeddings.path`: collections are searched by words only");
            None
        }
        Err(error) => {
            tracing::error!(%error, "the model could not be read");
            None
        }
    }
}
