-- What the answer to a question is checked with beyond its type, such as `outline`.
ALTER TABLE run_questions ADD COLUMN answer_check TEXT;
