-- What a call took of models, and what its turns took of time. Facts of operation: nothing that was said is in here.

create table call_usage (
  organization_id uuid        not null,
  call_id         uuid        not null,
  purpose         text        not null check (purpose in ('conversation', 'summary')),
  -- `realtime`, `cascade`, `chat`; the sandbox is a realtime server on loopback.
  engine          text        not null,
  -- Host of the server.
  provider        text        not null,
  -- Null where the server chooses.
  model           text,
  input_tokens    bigint      not null check (input_tokens >= 0),
  output_tokens   bigint      not null check (output_tokens >= 0),
  audio_in_ms     bigint      not null check (audio_in_ms >= 0),
  audio_out_ms    bigint      not null check (audio_out_ms >= 0),
  -- Millionths of a US dollar by the price table of that day; null where it names no price.
  cost_microusd   bigint      check (cost_microusd >= 0),
  -- From the answer to the first voiced sound of the agent.
  first_words_ms  integer     check (first_words_ms >= 0),
  created_at      timestamptz not null default now(),
  primary key (organization_id, call_id, purpose),
  foreign key (organization_id, call_id) references calls (organization_id, id) on delete cascade
);

-- One row for each answer of the agent: from the callee's last voiced sound to its first sound, stage by stage.
create table turn_latencies (
  organization_id  uuid    not null,
  call_id          uuid    not null,
  -- On the recording's clock: where the answer began.
  audio_offset_ms  integer not null check (audio_offset_ms >= 0),
  -- Until the engine took the speech for over.
  endpointing_ms   integer not null check (endpointing_ms >= 0),
  -- Until its words were there; null where the model does without them.
  transcription_ms integer check (transcription_ms >= 0),
  -- Until the model had its first words, or its first sound where it speaks itself.
  model_ms         integer not null check (model_ms >= 0),
  -- Until they were sound; null where the model speaks itself.
  speech_ms        integer check (speech_ms >= 0),
  -- Until that sound was on its way to the callee: our share.
  own_ms           integer not null check (own_ms >= 0),
  total_ms         integer not null check (total_ms >= 0),
  primary key (organization_id, call_id, audio_offset_ms),
  foreign key (organization_id, call_id) references calls (organization_id, id) on delete cascade
);
