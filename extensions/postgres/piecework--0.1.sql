\echo Use "CREATE EXTENSION piecework" to load this file. \quit

-- STABLE: the same file gives the same ids, and a backend reads it once. Not IMMUTABLE: nobody keeps the file from being replaced.

CREATE FUNCTION piecework_count("text" text, name text, add_special_tokens boolean DEFAULT true) RETURNS bigint
  AS 'MODULE_PATHNAME', 'pg_piecework_count' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 100;

CREATE FUNCTION piecework_encode("text" text, name text, add_special_tokens boolean DEFAULT true) RETURNS integer[]
  AS 'MODULE_PATHNAME', 'pg_piecework_encode' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 100;

CREATE FUNCTION piecework_decode(ids integer[], name text, skip_special_tokens boolean DEFAULT true) RETURNS text
  AS 'MODULE_PATHNAME', 'pg_piecework_decode' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 100;

CREATE FUNCTION piecework_fingerprint(name text) RETURNS text
  AS 'MODULE_PATHNAME', 'pg_piecework_fingerprint' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 100;

-- IMMUTABLE: a file with another fingerprint is an error. Indexes and generated columns may use these.

CREATE FUNCTION piecework_count("text" text, name text, fingerprint text, add_special_tokens boolean DEFAULT true) RETURNS bigint
  AS 'MODULE_PATHNAME', 'pg_piecework_count' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;

CREATE FUNCTION piecework_encode("text" text, name text, fingerprint text, add_special_tokens boolean DEFAULT true) RETURNS integer[]
  AS 'MODULE_PATHNAME', 'pg_piecework_encode' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;

CREATE FUNCTION piecework_decode(ids integer[], name text, fingerprint text, skip_special_tokens boolean DEFAULT true) RETURNS text
  AS 'MODULE_PATHNAME', 'pg_piecework_decode' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
