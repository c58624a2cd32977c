/** Names that are data: configs, stores and programs hold them, so none may go. */
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import ts from "typescript";
import * as contributions from "../../../shared/editor/contributions.ts";
import { kinds } from "../../../shared/log/records.ts";
import { metrics } from "../../../shared/metrics/metrics.ts";
import { errorCodes } from "../../../shared/protocol/protocol.ts";
import { formerPresets } from "../../../server/config/papers.ts";
import { listPresets } from "../../../server/config/presets.ts";
import { configSchema, paramsSchema } from "../../../server/config/grammar/jsonSchema.ts";
import { rules } from "../../../server/rules/index.ts";
import { structural } from "../../../server/rules/structural.ts";
import { keyRules } from "../../../server/frameworks/check/keyRules.ts";
import { frameworkRules } from "../../../server/frameworks/check/index.ts";
import { methods } from "../../../server/methods/index.ts";
import { assertFrozen, missing, schemaLines } from "../../support/frozen.ts";

test("a name that has gone is reported, a new one is not", () => {
  assert.deepEqual(missing(["a", "b"], ["b", "c"]), ["a"]);
});

test("keys of a config, their values, defaults and limits", () => {
  assertFrozen("config", schemaLines(configSchema()));
});

test("methods by slot, with their aliases and parameters", () => {
  assertFrozen(
    "methods",
    methods.flatMap((method) => {
      const name = `${method.slot} ${method.name}`;
      return [
        name,
        ...(method.aliases ?? []).map((alias) => `${name}, or ${alias}`),
        ...schemaLines(paramsSchema(method)).map((line) => `${name}${line}`),
      ];
    }),
  );
});

test("presets, metrics and rules", () => {
  assertFrozen("presets", [...listPresets().map(({ id }) => id), ...formerPresets()]);
  assertFrozen(
    "metrics",
    metrics.flatMap(({ name, unit, better, aliases = {} }) => [
      `${name} ${unit} ${better}`,
      ...Object.entries(aliases).flatMap(([trainer, own]) =>
        own.map((alias) => `${name} is ${trainer}'s ${alias}`),
      ),
    ]),
  );
  assertFrozen(
    "rules",
    [...rules, ...structural, ...keyRules, ...frameworkRules].map(({ id }) => id),
  );
});

test("commands, views, settings and context keys of the extension", () => {
  const { commands, views, panels, schemes, language, settings, contextKeys } = contributions;
  const lists = { commands, views, panels, schemes, language, settings, contextKeys };
  assertFrozen(
    "contributions",
    Object.entries(lists).flatMap(([list, ids]) => Object.values(ids).map((id) => `${list} ${id}`)),
  );
});

test("kinds of log records and codes of errors on the wire, with their numbers", () => {
  assertFrozen("numbers", [
    ...Object.entries(kinds).map(([kind, number]) => `record ${kind} ${number}`),
    ...Object.entries(errorCodes).map(([code, number]) => `error ${code} ${number}`),
  ]);
});

/** Every source of the product. */
const sources = ["server", "shared", "extension"].flatMap((room) =>
  readdirSync(room, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => join(room, name)),
);

test("codes of errors, and keys of random streams", () => {
  const [codes, streams] = [new Set<string>(), new Set<string>()];
  const visit = (node: ts.Node): void => {
    if (ts.isPropertyAssignment(node) && node.name.getText() === "code") {
      const literal = node.initializer;
      if (ts.isStringLiteral(literal)) codes.add(literal.text);
    }
    if (ts.isCallExpression(node)) streamKey(node).forEach((key) => streams.add(key));
    ts.forEachChild(node, visit);
  };
  for (const file of sources)
    visit(ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true));
  assertFrozen("errors", codes);
  assertFrozen("streams", streams);
});

/** `randomStream(seed, "draw", step)` as "randomStream · draw ·": which words a stream is named by, and where. */
function streamKey({ expression, arguments: given }: ts.CallExpression): string[] {
  const called = ts.isPropertyAccessExpression(expression) ? expression.name.text : expression.getText();
  if (called !== "randomStream" && called !== "fork") return [];
  const parts = given.map((one) => (ts.isStringLiteral(one) ? one.text : "·"));
  return [`${called} ${parts.join(" ")}`.trim()];
}
