//! Tools of capability servers as callers see them: files are given by their ids.

use serde_json::{Value, json};

use super::{Catalog, text};

fn file() -> Value {
    json!({"type": "string", "minLength": 1, "maxLength": 200,
        "description": "The file, by its id (`file_…`), or a reference of an earlier answer (`ref_…`)."})
}

fn reference() -> Value {
    json!({"type": ["string", "null"], "description": "A `ref_id` of `parse_document`."})
}

fn about(description: &str) -> Value {
    json!({"type": "string", "description": description})
}

pub(super) fn catalog() -> Catalog {
    let count = json!({"type": "integer"});
    Catalog::new(&[
        (
            "resume-profile-mcp:parse_document",
            "Reads a résumé and stores it as Markdown under a reference, with its sections.",
            json!({"file_id": file()}),
            json!({"ref_id": text(), "page_count": count}),
        ),
        (
            "resume-profile-mcp:extract_profile",
            "Reads contact data, positions, degrees and skills from a résumé, as a profile.",
            json!({"source_ref_id?": reference(), "file_id?": file(), "text?": text()}),
            json!({"contact": {"type": "object"}, "skills": {"type": "array"}}),
        ),
        (
            "resume-profile-mcp:tailor_resume",
            "Writes a résumé for a role as PDF or DOCX: bullets and skills that a job asks for move up.",
            json!({"source_ref_id?": reference(), "file_id?": file(), "job_text?": about("A job description."),
                "max_pages?": count, "target_role": about("The role to apply for, shown below the name."),
                "format?": {"type": "string", "enum": ["pdf", "docx"], "default": "pdf"}}),
            json!({"ref_id": text(), "format": text()}),
        ),
        (
            "audit-compliance-mcp:redact",
            "Replaces personal data in a document by labels.",
            json!({"source_ref_id?": reference(), "file_id?": file(), "text?": text()}),
            json!({"ref_id": text()}),
        ),
        (
            "audit-compliance-mcp:compare_documents",
            "Compares two versions of a document and lists the changes.",
            json!({"new_file_id": file(), "old_file_id": file()}),
            json!({"similarity": {"type": "number"}}),
        ),
        (
            "media-transform-mcp:merge_pdf",
            "Joins PDF files to one.",
            json!({"file_ids?": {"type": "array", "items": file()},
                "source_ref_ids?": {"type": "array", "items": reference()}}),
            json!({"ref_id": text()}),
        ),
        (
            "text-analysis-mcp:summarize_text",
            "Summarizes a text with its most important sentences.",
            json!({"text?": about("The text; or give a file."), "file_id?": file(), "sentences?": count}),
            json!({"summary": text()}),
        ),
        (
            "mail:send_message",
            "Sends an e-mail message.",
            json!({"recipient_email": text(), "message": text(), "attachment_file_id?": file()}),
            json!({"status": text()}),
        ),
        (
            "mail:draft_message",
            "Drafts an e-mail message and keeps it.",
            json!({"recipient_email": text(), "message": text()}),
            json!({"draft_id": text()}),
        ),
        (
            "fs:read_file",
            "Reads a file of a folder.",
            json!({"path": about("The path of the file.")}),
            json!({"content": text()}),
        ),
        (
            "weather:get",
            "Gets the weather of a city.",
            json!({"city": text(), "days?": count}),
            json!({"forecast": text()}),
        ),
        (
            "web:fetch",
            "Fetches a page of the web by its URL.",
            json!({"url": {"type": "string", "format": "uri"}}),
            json!({"content": text()}),
        ),
    ])
}
