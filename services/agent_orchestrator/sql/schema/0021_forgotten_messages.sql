-- Messages that say what their user has asked to forget: they stay in their conversation, and are neither found nor quoted.
alter table conversation_message add column forgotten boolean not null default false;
