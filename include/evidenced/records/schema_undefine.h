/* Ends one pass over a schema file: schema_declare.h and schema_define.h include it, nobody else. No guard. */
#undef EVD_RECORD
#undef EVD_STRUCT
#undef EVD_FIELD
#undef EVD_REF
#undef EVD_NUMBER
#undef EVD_STRING
#undef EVD_BYTES
#undef EVD_ENUM
#undef EVD_NEST
#undef EVD_LIST
#undef EVD_STRINGS
#undef EVD_REFS
#undef EVD_VALUE
#undef EVD_MEMBERS
#undef EVD_END
