use std::path::Path;
use std::sync::atomic::AtomicUsize;

use serde_json::json;

use super::*;
use crate::StorageLimits;

const LONG: Duration = Duration::from_secs(20);

/// `echo` gives its input back, `wait` does so once a file exists, `hang` never ends, `panic` panics, `large` has a large result.
fn operations(runs: &Arc<AtomicUsize>) -> Operations {
    let runs = Arc::clone(runs);
    Operations::new(move |operation, arguments, ctx: JobCtx| {
        runs.fetch_add(1, Ordering::SeqCst);
        async move {
            ctx.step(0.5, "working");
            match operation.as_str() {
                "hang" => std::future::pending().await,
                "wait" => {
                    while !Path::new(arguments["for"].as_str().unwrap()).exists() {
                        tokio::time::sleep(Duration::from_millis(5)).await;
                    }
                    JobResult::new(&arguments, [])
                }
                #[expect(clippy::panic, reason = "the point of the test")]
                "panic" => panic!("secret detail"),
                "large" => JobResult::new(&json!({"text": "x".repeat(200_000)}), []),
                "fail" => {
                    Err(Fault::invalid_input("not this file").details(json!({"reason": "damaged"})))
                }
                _ => JobResult::new(&arguments, []),
            }
        }
    })
}

fn open(folder: Option<&Path>, runs: &Arc<AtomicUsize>) -> Jobs {
    let references = match folder {
        Some(folder) => ReferenceStore::in_folder("test", folder.to_owned()).unwrap(),
        None => ReferenceStore::in_memory("test", StorageLimits::default()),
    };
    let folder = folder.map(Path::to_owned);
    Jobs::open(operations(runs), references, Arc::default(), folder).unwrap()
}

async fn run(jobs: &Jobs, operation: &str) -> JobStatus {
    let submitted = jobs.submit(operation, &json!({"input": 7})).await.unwrap();
    assert_eq!(submitted.state, JobState::Queued);
    jobs.status(&submitted.job_id, LONG).await.unwrap()
}

async fn wait_until_running(jobs: &Jobs, job_id: &str) {
    while jobs.status(job_id, Duration::ZERO).await.unwrap().state != JobState::Running {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn wait_for_runs(runs: &AtomicUsize, count: usize) {
    while runs.load(Ordering::SeqCst) < count {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn jobs_end_with_a_result_or_an_error_in_memory_and_in_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    for folder in [None, Some(folder.path())] {
        let jobs = open(folder, &Arc::default());
        let done = run(&jobs, "echo").await;
        assert_eq!((done.state, done.progress), (JobState::Done, 1.0));
        assert_eq!(done.result, Some(json!({"input": 7})));
        let failed = run(&jobs, "fail").await;
        let error = failed.error.unwrap();
        assert_eq!((failed.state, error.code.as_str()), (JobState::Failed, "INVALID_INPUT"));
        assert_eq!(error.details, Some(json!({"reason": "damaged"})));
        let broken = run(&jobs, "panic").await;
        let error = broken.error.unwrap();
        assert!(error.code == "INTERNAL" && !error.message.contains("secret"), "{error:?}");
        let large = run(&jobs, "large").await;
        assert_eq!((large.state, &large.result), (JobState::Done, &None));
        let stored = jobs.0.references.find(&large.result_ref.unwrap()).await.unwrap();
        assert!(stored.bytes.len() > 200_000);
        assert!(large.links[0].uri.starts_with("kept://test/result_"), "{:?}", large.links);
    }
}

#[tokio::test]
async fn unknown_jobs_say_which_call_to_repeat() {
    let folder = tempfile::tempdir().unwrap();
    let jobs = open(Some(folder.path()), &Arc::default());
    std::fs::write(folder.path().join("secret.json"), "{}").unwrap();
    for id in ["", "job_", "../secret", "job_../../secret", &format!("job_{}", "0".repeat(32))] {
        for fault in
            [jobs.status(id, Duration::ZERO).await.unwrap_err(), jobs.cancel(id).await.unwrap_err()]
        {
            let text = fault.to_string();
            assert!(text.starts_with("NOT_FOUND") && text.contains("create_job"), "{text}");
        }
    }
}

#[tokio::test]
async fn two_jobs_run_at_once_and_others_wait_and_can_be_cancelled() {
    let folder = tempfile::tempdir().unwrap();
    for folder in [None, Some(folder.path())] {
        let runs = Arc::default();
        let jobs = open(folder, &runs);
        let mut ids = Vec::new();
        for _ in 0..3 {
            ids.push(jobs.submit("hang", &json!({})).await.unwrap().job_id);
        }
        wait_until_running(&jobs, &ids[0]).await;
        wait_until_running(&jobs, &ids[1]).await;
        wait_for_runs(&runs, 2).await;
        let waiting = jobs.status(&ids[2], Duration::from_millis(300)).await.unwrap();
        assert_eq!((waiting.state, runs.load(Ordering::SeqCst)), (JobState::Queued, 2));
        assert_eq!(jobs.cancel(&ids[2]).await.unwrap().state, JobState::Cancelled);
        assert_eq!(jobs.cancel(&ids[0]).await.unwrap().state, JobState::Cancelled);
        // A cancelled job stays cancelled, and its slot is free.
        assert_eq!(jobs.cancel(&ids[0]).await.unwrap().state, JobState::Cancelled);
        assert_eq!(run(&jobs, "echo").await.state, JobState::Done);
        assert_eq!(runs.load(Ordering::SeqCst), 3);
    }
}

#[tokio::test]
async fn the_queue_is_bounded() {
    let jobs = open(None, &Arc::default());
    for _ in 0..100 {
        jobs.submit("hang", &json!({})).await.unwrap();
    }
    let refused = jobs.submit("echo", &json!({})).await.unwrap_err().to_string();
    assert!(refused.starts_with("UNAVAILABLE") && refused.contains("100 jobs"), "{refused}");
}

#[tokio::test]
async fn a_job_that_is_stopped_with_its_process_is_run_by_the_next_one() {
    let folder = tempfile::tempdir().unwrap();
    let runs = Arc::default();
    let first = open(Some(folder.path()), &runs);
    let job_id = first.submit("hang", &json!({})).await.unwrap().job_id;
    wait_until_running(&first, &job_id).await;
    first.stop().await;
    let next = open(Some(folder.path()), &runs);
    let waiting = next.status(&job_id, Duration::ZERO).await.unwrap();
    assert_eq!(waiting.state, JobState::Queued);
    next.start();
    wait_until_running(&next, &job_id).await;
    wait_for_runs(&runs, 2).await;
    // A stop is no crash.
    let record = next.find(&job_id).await.unwrap();
    assert_eq!(record.restarts, 0);
    next.stop().await;
}

#[tokio::test]
async fn calls_wait_for_no_job_that_the_next_process_goes_on_with() {
    let folder = tempfile::tempdir().unwrap();
    for (folder, answers) in [(Some(folder.path()), true), (None, false)] {
        let jobs = open(folder, &Arc::default());
        let job_id = jobs.submit("hang", &json!({})).await.unwrap().job_id;
        wait_until_running(&jobs, &job_id).await;
        jobs.drain();
        let waiting = jobs.status(&job_id, LONG);
        let answered = tokio::time::timeout(Duration::from_secs(1), waiting).await;
        assert_eq!(answered.is_ok(), answers);
        if let Ok(status) = answered {
            assert_eq!(status.unwrap().state, JobState::Running);
        }
        jobs.stop().await;
    }
}

#[tokio::test]
async fn a_job_that_ended_as_its_process_was_killed_is_not_run_again() {
    let (folder, runs) = (tempfile::tempdir().unwrap(), Arc::default());
    let jobs = open(Some(folder.path()), &runs);
    let done = run(&jobs, "echo").await;
    // The end is stored, and the open job is still there with its input.
    let mut record = Record::new("echo", json!({"url": "https://x.example/?sig=secret"}));
    (record.id, record.state) = (done.job_id.clone(), JobState::Running);
    jobs.0.storage.update(record).await.unwrap();
    let left = folder.path().join(format!("jobs/open/{}.json", done.job_id));
    assert!(left.exists());
    while left.exists() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let status = jobs.status(&done.job_id, Duration::ZERO).await.unwrap();
    assert_eq!((status.state, runs.load(Ordering::SeqCst)), (JobState::Done, 1));
}

#[tokio::test]
async fn a_job_whose_end_cannot_be_stored_is_not_run_again() {
    let (folder, runs) = (tempfile::tempdir().unwrap(), Arc::default());
    let jobs = open(Some(folder.path()), &runs);
    let (ended, go) = (folder.path().join("jobs/ended"), folder.path().join("go"));
    let job_id = jobs.submit("wait", &json!({"for": go})).await.unwrap().job_id;
    wait_for_runs(&runs, 1).await;
    std::fs::remove_dir(&ended).unwrap();
    std::fs::write(&ended, "no folder").unwrap();
    std::fs::write(&go, "").unwrap();
    // Longer than a tick, after which its end could not be stored.
    tokio::time::sleep(Duration::from_millis(700)).await;
    std::fs::remove_file(&ended).unwrap();
    std::fs::create_dir(&ended).unwrap();
    let done = jobs.status(&job_id, LONG).await.unwrap();
    assert_eq!((done.state, runs.load(Ordering::SeqCst)), (JobState::Done, 1));
}

#[tokio::test]
async fn a_job_whose_process_died_is_begun_again_twice() {
    let folder = tempfile::tempdir().unwrap();
    let runs = Arc::default();
    // A killed process leaves a running job without a lock.
    let mut record = Record::new("echo", json!({"input": 1}));
    record.state = JobState::Running;
    let mut hopeless = Record::new("echo", json!({}));
    (hopeless.state, hopeless.restarts) = (JobState::Running, 2);
    let jobs = open(Some(folder.path()), &runs);
    jobs.0.storage.insert(record.clone()).await.unwrap();
    jobs.0.storage.insert(hopeless.clone()).await.unwrap();
    jobs.start();
    let done = jobs.status(&record.id, LONG).await.unwrap();
    assert_eq!((done.state, done.result), (JobState::Done, Some(json!({"input": 1}))));
    let failed = jobs.status(&hopeless.id, LONG).await.unwrap();
    assert_eq!(failed.state, JobState::Failed);
    assert!(failed.error.unwrap().message.contains("not tried again"));
    assert_eq!(runs.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn replicas_share_jobs_and_each_is_run_once() {
    let folder = tempfile::tempdir().unwrap();
    let runs = Arc::default();
    let replicas = [open(Some(folder.path()), &runs), open(Some(folder.path()), &runs)];
    replicas[0].start();
    replicas[1].start();
    let mut ids = Vec::new();
    for at in 0..20 {
        ids.push(replicas[at % 2].submit("echo", &json!({"at": at})).await.unwrap().job_id);
    }
    for (at, id) in ids.iter().enumerate() {
        let done = replicas[(at + 1) % 2].status(id, LONG).await.unwrap();
        assert_eq!(done.result, Some(json!({"at": at})));
    }
    assert_eq!(runs.load(Ordering::SeqCst), 20);
    // Any of them cancels what another one runs.
    let job_id = replicas[0].submit("hang", &json!({})).await.unwrap().job_id;
    wait_until_running(&replicas[1], &job_id).await;
    for replica in &replicas {
        assert_eq!(replica.cancel(&job_id).await.unwrap().state, JobState::Cancelled);
    }
}

#[tokio::test]
async fn inputs_are_not_kept_and_damaged_files_stop_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let jobs = open(Some(folder.path()), &Arc::default());
    let open_jobs = folder.path().join("jobs/open");
    let file = |digit: &str, kind: &str| open_jobs.join(format!("job_{}.{kind}", digit.repeat(32)));
    std::fs::write(file("a", "json"), "{").unwrap();
    std::fs::create_dir(file("b", "json")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", file("c", "json")).unwrap();
    std::fs::File::create(file("d", "json")).unwrap().set_len(1 << 30).unwrap();
    // The id in the file would become a path.
    let mut elsewhere = Record::new("echo", json!({}));
    elsewhere.id = "../../evil".to_owned();
    std::fs::write(file("e", "json"), serde_json::to_vec(&elsewhere).unwrap()).unwrap();
    let mut locked = Record::new("echo", json!({}));
    locked.id = format!("job_{}", "f".repeat(32));
    std::fs::write(file("f", "json"), serde_json::to_vec(&locked).unwrap()).unwrap();
    std::os::unix::fs::symlink("/dev/null", file("f", "lock")).unwrap();
    let submitted =
        jobs.submit("fail", &json!({"url": "https://x.example/?sig=secret"})).await.unwrap();
    let failed = jobs.status(&submitted.job_id, LONG).await.unwrap();
    assert_eq!(failed.state, JobState::Failed);
    let ended = folder.path().join(format!("jobs/ended/{}.json", submitted.job_id));
    assert!(!std::fs::read_to_string(ended).unwrap().contains("secret"));
    use std::os::unix::fs::PermissionsExt as _;
    let mode = std::fs::metadata(&open_jobs).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o700);
    assert!(!folder.path().join("evil.json").exists());
}

#[tokio::test]
async fn a_folder_that_was_removed_is_made_again() {
    let (folder, runs) = (tempfile::tempdir().unwrap(), Arc::default());
    let keep = folder.path().join("cache/keep");
    let jobs = open(Some(&keep), &runs);
    run(&jobs, "echo").await;
    std::fs::remove_dir_all(folder.path().join("cache")).unwrap();
    assert_eq!(run(&jobs, "large").await.state, JobState::Done);
}

#[tokio::test]
async fn old_files_of_others_in_the_folder_stay() {
    let (folder, runs) = (tempfile::tempdir().unwrap(), Arc::default());
    let jobs = open(Some(folder.path()), &runs);
    let job = run(&jobs, "echo").await.job_id;
    drop(jobs);
    let ended = folder.path().join("jobs/ended");
    let draft = format!("jobs/open/.powerstrip-{}.tmp", "0".repeat(32));
    let files =
        [ended.join("notes.json"), ended.join(format!("{job}.json")), folder.path().join(draft)];
    std::fs::write(&files[0], "mine").unwrap();
    std::fs::write(&files[2], "of a process that was killed").unwrap();
    let long_ago = std::time::SystemTime::now() - record::LIFETIME - LONG;
    for file in &files {
        std::fs::File::options().write(true).open(file).unwrap().set_modified(long_ago).unwrap();
    }
    open(Some(folder.path()), &runs);
    assert_eq!(files.map(|file| file.exists()), [true, false, false]);
}
