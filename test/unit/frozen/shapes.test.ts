/** What goes over the wire and into files: fields may be added, none may go or change its type. */
import { test } from "node:test";
import { z } from "zod";
import { requests } from "../../../shared/protocol/protocol.ts";
import { assertFrozen, readSources, schemaLines } from "../../support/frozen.ts";

const protocol = "shared/protocol/protocol.ts";
const records = "shared/log/records.ts";
const lines = "server/cli/text/runLines.ts";

test("parameters of every request", () => {
  assertFrozen(
    "parameters",
    Object.values(requests).flatMap(({ method, params }) => [
      method,
      ...schemaLines(
        JSON.parse(JSON.stringify(z.toJSONSchema(params, { io: "input", unrepresentable: "any" }))),
      ).map((line) => `${method}${line}`),
    ]),
  );
});

test("results of every request, records of the run log, and the lines of run --json", () => {
  const sources = readSources([protocol, records, lines]);
  assertFrozen("results", sources.resultLines(protocol, "requests"));
  assertFrozen("records", sources.typeLines(records, "LogRecord"));
  assertFrozen("runLines", sources.typeLines(lines, "RunLine"));
});
