/*
 * Keys and tokens that are the same in every run. The private halves of "rsa" and "ec" are gone; "ed" is made of its
 * seed, so that a run can sign. They are good for nothing but this.
 */
#ifndef EVIDENCED_TESTS_FUZZ_TOKEN_KEYS_H
#define EVIDENCED_TESTS_FUZZ_TOKEN_KEYS_H

#define TOKEN_ISSUER   "https://issuer.example"
#define TOKEN_AUDIENCE "evidenced"
#define TOKEN_SEED     "evidenced: a key for fuzzing, 1." /* 32 bytes */
#define TOKEN_NOW_MS   INT64_C(1750000000000)             /* between iat and exp of the tokens below */

static const char token_jwks[] =
    "{\"keys\":[{\"kid\":\"rsa\",\"kty\":\"RSA\",\"n\":\"sPdj4naJDo31pJ2NyM1kl1TkgVLVoHshaqjDy6S9v5mtYtvW"
    "B8ohpmxLmLJBXtC8ajpD3gkgpVttba_vlZJNph7GzFQ4Bs8Kk_OtiKXZ97xL5urD8gcl1GumVuUNKpcJyhPgLj86UgeeHyNPotTa"
    "6_47oxOzXcg1hNkflGbGMgRp1L_n2nCK1os0rQkeQ5UlZoL2W3vym6Zit7rSa3V8SYt5rYik4Y0bGLP4LNR7zinJExldGsCLX9YB"
    "0qwmNxMjxuBXXm8BquQ5CEMBrd4hMMmUetB0pvqKGeabzHILvtIaPtlyX_d1UhWOy3z9Wfp6SHI2M3G1m6SfRlyVqdPFpQ\",\"e"
    "\":\"AQAB\"},{\"kid\":\"ec\",\"kty\":\"EC\",\"x\":\"i4o8FmyHYo80dOsyMvU5tSyEA_7ZcosQwOyCRUO8Jvw\",\""
    "y\":\"h8owhlyQksXDnT6rdqjvEVBvCquea06gERVEkOFeaCk\",\"crv\":\"P-256\"},{\"kid\":\"ed\",\"crv\":\"Ed2"
    "5519\",\"x\":\"TADu4IOuqc5c_ugdcLGaJc-_ZavVQ1nUMk9T3K93aSM\",\"kty\":\"OKP\"}]}";

/* RS256, ES256, EdDSA, over the same claims. */
static const char *const token_good[] = {
    "eyJhbGciOiJSUzI1NiIsImtpZCI6InJzYSJ9.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwiYXVkIjoiZXZpZGVuY2V"
    "kIiwic3ViIjoic29tZWJvZHkiLCJleHAiOjE4MDAwMDAwMDAsImlhdCI6MTcwMDAwMDAwMCwic2NvcGUiOiJldmlkZW5jZWQ6Y3J"
    "lYXRlLXByb2plY3QifQ.HKB3hpJpOopHXgeoM3NtJF_miLMkBXCaPX21dxHDQbtDExv4NRj3hBlTayQmAOiC2Vzin5jzfJcEXASq"
    "TbBatM-GPDSFgOga3zf0UQq3pE_L6PpAtOaUUrcX_BnJjLBUmjcKW4q0yh51gzp4-lMavofpYhSX6UOLBqwc_yU8_NE5shbttzXl"
    "Zo1Lluv2Su-UevsQXXpVNbsmrh2tnwPp9k4ARhvyqrGPTYM-A0KpkcAzDzPCvRlkgUCGo60q5cXrOqFEC8qUhar0lq8olAjDuZSz"
    "bUdeKYga8QT5BTwixMCrg59aHkOgqIKgxtfhty73EUVb2YvbP8xi1lJLatPWAw",
    "eyJhbGciOiJFUzI1NiIsImtpZCI6ImVjIn0.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwiYXVkIjoiZXZpZGVuY2Vk"
    "Iiwic3ViIjoic29tZWJvZHkiLCJleHAiOjE4MDAwMDAwMDAsImlhdCI6MTcwMDAwMDAwMCwic2NvcGUiOiJldmlkZW5jZWQ6Y3Jl"
    "YXRlLXByb2plY3QifQ.4DmnuB7kxW2_L9OVk343ySHjjX-3KpNXUqHKXwS5FX590TK_qMSQIBcwtJFpp5hJu9xSH8SxtxoTD8D4x"
    "IxD1A",
    "eyJhbGciOiJFZERTQSIsImtpZCI6ImVkIn0.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwiYXVkIjoiZXZpZGVuY2Vk"
    "Iiwic3ViIjoic29tZWJvZHkiLCJleHAiOjE4MDAwMDAwMDAsImlhdCI6MTcwMDAwMDAwMCwic2NvcGUiOiJldmlkZW5jZWQ6Y3Jl"
    "YXRlLXByb2plY3QifQ.MF8uOUEIhNXr_rlPJVDKflAEq1KToTGmTSIAKH1fg5dtKUdxC2ia3H2Z9Zq7fn6LKvYOaVkUNDGg43B4d"
    "C8fAA"};

#endif
