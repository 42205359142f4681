-- Tokens of audio and tokens read from a server's cache have prices of their own. Each count is part of the row's
-- input_tokens or output_tokens; rows from before have none.
alter table call_usage
  add column audio_input_tokens        bigint not null default 0 check (audio_input_tokens >= 0),
  add column cached_input_tokens       bigint not null default 0 check (cached_input_tokens >= 0),
  add column cached_audio_input_tokens bigint not null default 0 check (cached_audio_input_tokens >= 0),
  add column audio_output_tokens       bigint not null default 0 check (audio_output_tokens >= 0);
