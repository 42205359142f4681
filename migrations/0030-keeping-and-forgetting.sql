-- How complete a recording is, its waveform, and how long what was said is kept.

alter table organizations
  -- Recordings, transcripts and summaries go this long after their call ended. Null: they are kept.
  add column retention_days integer check (retention_days between 1 and 36500);

alter table recordings
  -- 20 ms frames from the answer to the hang-up. Null: the recorder was killed and nobody knows.
  add column frames_expected integer check (frames_expected >= 0),
  -- Those of them that hold what was heard and said; the rest are silence in their places.
  add column frames_written  integer check (frames_written >= 0),
  -- JSON beside the MP3: two lanes of peaks.
  add column peaks_key       text,
  -- When the bytes of a deleted recording were gone from the storage.
  add column purged_at       timestamptz,
  -- `deleted`: shown to nobody from this commit on; its bytes go right after.
  drop constraint recordings_status_check,
  add constraint recordings_status_check check (status in ('encoding', 'ready', 'failed', 'deleted')) not valid;

create index recordings_deleted on recordings (updated_at) where status = 'deleted' and purged_at is null;
-- What retention looks at, oldest first.
create index recordings_kept on recordings (organization_id, recorded_at) where status <> 'deleted';
create index results_kept on results (organization_id, created_at) where status <> 'unavailable';

alter table result_revisions
  -- Which rules made the text. Null: before versions were kept.
  add column sanitizer_version integer;

-- A revision is what a cursor was promised: it is made, superseded and deleted, never edited.
create function refuse_edited_revision() returns trigger language plpgsql as $$
begin
  raise exception 'revision % of the % of call % is immutable', old.revision, old.kind, old.call_id;
end $$;

create trigger result_revisions_immutable before update on result_revisions
  for each row
  when ((new.organization_id, new.call_id, new.kind, new.revision, new.content, new.content_hash, new.generated_at,
         new.sanitizer_version)
        is distinct from
        (old.organization_id, old.call_id, old.kind, old.revision, old.content, old.content_hash, old.generated_at,
         old.sanitizer_version))
  execute function refuse_edited_revision();
