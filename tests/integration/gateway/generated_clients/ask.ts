// Searches the gateway at BRAID_URL for the given words, with types generated from its OpenAPI document.

import createClient from "openapi-fetch";
import type { paths } from "./schema.js";

const client = createClient<paths>({ baseUrl: process.env.BRAID_URL ?? "" });
const { data, error } = await client.POST("/api/search/text", { body: { query: process.argv[2] ?? "", limit: 3 } });
if (!data) {
  console.error(JSON.stringify(error));
  process.exit(1);
}
for (const hit of data.results) console.log(`${hit.document_id}: ${hit.content}`);
