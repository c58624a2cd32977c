import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { z } from "zod";
import { errorCodes, protocolVersion, requests } from "../../../shared/protocol/protocol.ts";

const path = "docs/protocol.md";

type Property = {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly default?: unknown;
  readonly items?: Property;
};
const typeOf = ({ type, enum: values, items }: Property): string =>
  values !== undefined
    ? values.map((value) => `"${value}"`).join(" \\| ")
    : type === "array" && items !== undefined
      ? `${typeOf(items)}[]`
      : (type ?? "any");

function requestRows(): string[] {
  return Object.values(requests).map(({ method, params }) => {
    const schema = z.toJSONSchema(params, { io: "input" }) as {
      properties?: Record<string, Property>;
      required?: readonly string[];
    };
    const fields = Object.entries(schema.properties ?? {}).map(([name, property]) => {
      const optional = schema.required?.includes(name) === true || property.default !== undefined ? "" : "?";
      return `\`${name}${optional}\`: ${typeOf(property)}${property.default === undefined ? "" : ` = ${JSON.stringify(property.default)}`}`;
    });
    return `| \`${method}\` | ${fields.join(", ") || "none"} |`;
  });
}
const errorRows = (): string[] => Object.entries(errorCodes).map(([name, code]) => `| ${code} | ${name} |`);

/** Replaces the rows after a table's ruling line that follows a heading. */
function withRows(text: string, heading: string, rows: readonly string[]): string {
  const begin = text.indexOf("|---|---|\n", text.indexOf(heading)) + "|---|---|\n".length;
  const end = text.indexOf("\n\n", begin);
  return `${text.slice(0, begin)}${rows.join("\n")}${text.slice(end)}`;
}

test("docs/protocol.md lists the requests and errors as they are (GRADUS_WRITE_DOCS=1 writes them)", () => {
  const text = readFileSync(path, "utf8");
  const expected = withRows(withRows(text, "## Requests", requestRows()), "## Errors", errorRows());
  if (process.env["GRADUS_WRITE_DOCS"] === "1") writeFileSync(path, expected);
  else assert.equal(text, expected, "run the test once with GRADUS_WRITE_DOCS=1");
  assert.ok(text.includes(`Version ${protocolVersion}.`));
});
