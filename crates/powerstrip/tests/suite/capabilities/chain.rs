//! From a résumé and a job to a tailored PDF, without a byte of either file in the caller's context.

use serde_json::{Value, json};
use testkit::Gateway;

use super::support::{call, gateway, register, wait_for_replicas};

const RESUME: &str = "# Ada Marlow\n\nada.marlow@example.org | +44 20 7946 0018 | Leeds\n\n\
    ## Experience\n\n### Software Engineer, Calder & Voss\n\n2019-03 – present\n\n\
    - Built a pipeline in Rust and Kafka that reads 40,000 events a second\n\
    - Looked after the coffee machine\n\n\
    ### Junior Developer, Hollis Labs\n\n2016-09 – 2019-02\n\n- Wrote reports in Python\n\n\
    ## Education\n\nBSc Computer Science, University of Leeds, 2016\n\n## Skills\n\nRust, Kafka, Python, SQL\n";

const JOB: &str = "Software Engineer\n\nRequirements\n- 3+ years of experience\n- Rust\n- Kafka\n\nNice to have\n- Kubernetes\n";

/// What the caller has seen of all answers.
struct Context<'a> {
    gateway: &'a Gateway,
    seen: String,
}

impl Context<'_> {
    async fn call(&mut self, tool: &str, input: Value) -> Value {
        let data = call(self.gateway, tool, &input).await;
        self.seen.push_str(&data.to_string());
        data
    }
}

#[tokio::test]
async fn a_resume_is_tailored_across_replicas_and_a_redeploy() {
    const SERVER: &str = "resume-profile-mcp";
    let gateway = gateway().await;
    let (resumes, media) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let replica = || register(SERVER, &gateway, resumes.path(), &["--replica"]);
    let (one, other) = (replica().await, replica().await);
    let _media = register("media-transform-mcp", &gateway, media.path(), &[]).await;
    wait_for_replicas(&gateway, SERVER, 2).await;
    wait_for_replicas(&gateway, "media-transform-mcp", 1).await;

    // The uploaded résumé is a PDF, which another of the servers makes.
    let pdf = json!({"text": RESUME, "from": "markdown"});
    let pdf = call(&gateway, "media-transform-mcp:convert_to_pdf", &pdf).await;
    let upload = json!({"content_ref_id": pdf["ref_id"], "file_name": "cv.pdf"});
    let file = call(&gateway, "powerstrip:store_artifact", &upload).await["file_id"].clone();

    let mut context = Context { gateway: &gateway, seen: String::new() };
    let parsed = context.call("resume-profile-mcp:parse_document", json!({"file_id": file})).await;
    let source = parsed["ref_id"].clone();
    assert!(source.as_str().unwrap().starts_with("doc_"), "{parsed}");

    // The rest is answered by processes that have not parsed the document.
    assert_eq!(one.stop().await, Some(0));
    wait_for_replicas(&gateway, SERVER, 1).await;
    let input = json!({"source_ref_id": source});
    let profile = context.call("resume-profile-mcp:extract_profile", input).await;
    assert_eq!(profile["contact"]["name"], "Ada Marlow", "{profile}");
    let new = replica().await;
    wait_for_replicas(&gateway, SERVER, 2).await;
    assert_eq!(other.stop().await, Some(0));
    wait_for_replicas(&gateway, SERVER, 1).await;
    let input = json!({"source_ref_id": source, "job_text": JOB});
    let fit = context.call("resume-profile-mcp:score_fit", input).await;
    assert_eq!(fit["missing_must"], json!([]), "{fit}");

    let input = json!({"source_ref_id": source, "target_role": "SWE", "job_text": JOB});
    let tailored = context.call("resume-profile-mcp:tailor_resume", input).await;
    assert_eq!((&tailored["format"], &tailored["page_count"]), (&json!("pdf"), &json!(1)));
    assert!(tailored["ref_id"].as_str().unwrap().starts_with("tailored_"), "{tailored}");
    let artifact = json!({"content_ref_id": tailored["ref_id"], "file_name": "Resume_SWE.pdf"});
    let stored = context.call("powerstrip:store_artifact", artifact).await;
    assert_eq!(stored["media_type"], "application/pdf", "{stored}");

    // Neither file is in any answer; what a tool says of the text is not the file.
    for traces in ["%PDF", "JVBERi", "endstream"] {
        assert!(!context.seen.contains(traces), "{}", context.seen);
    }
    let link = format!("/v1/files/{}/content", stored["file_id"].as_str().unwrap());
    let url = gateway.url(&link);
    let bytes = reqwest::get(url).await.unwrap().bytes().await.unwrap();
    assert!(bytes.starts_with(b"%PDF-"));
    let input = json!({"file_id": stored["file_id"]});
    let read = call(&gateway, "resume-profile-mcp:extract_profile", &input).await;
    for field in ["name", "email", "phone"] {
        assert_eq!(read["contact"][field], profile["contact"][field], "{read}");
    }
    let bullets = read["experience"][0]["bullets"].to_string();
    assert!(bullets.contains("40,000 events"), "{read}");
    assert_eq!(new.stop().await, Some(0));
}
