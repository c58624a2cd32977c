/** Whether the framework has the keys and accepts their values. */
import type { Diagnostic } from "../../config/check/diagnostic.ts";
import type { FrameworkDocument } from "../text/document.ts";
import type { DocumentModel } from "../rules/model.ts";
import { pythonProblem } from "../../lib/python/syntax.ts";
import { Lines } from "../readers/lines.ts";
import { diagnosed } from "../rules/report.ts";
import { brokenYaml } from "./keyRules.ts";
import { cutSettings } from "./cutSettings.ts";
import { flatKeys } from "./flat.ts";
import { hydraKeys } from "./hydra.ts";
import { allowLater } from "./release.ts";
import { repeats, unsetVariables } from "./repeats.ts";
import { structured } from "./structured.ts";
import { values } from "./values.ts";

export function checkKeys(model: DocumentModel): readonly Diagnostic[] {
  const { document } = model;
  const keys = document.framework === "verl" ? hydraKeys(model) : flatKeys(model);
  const named = [...keys, ...repeats(model)].map((diagnostic) => ({ ...diagnostic, onKey: true }));
  const found = allowLater(model, [...named, ...values(model), ...structured(model)]);
  return [
    ...found.map((diagnostic) => diagnosed(diagnostic, diagnostic.rule, document)),
    ...cutSettings(document),
    ...broken(document),
    ...brokenScript(document),
    ...unsetVariables(model).map(({ diagnostic, variable: { range } }) => ({
      ...diagnosed(diagnostic, diagnostic.rule, document),
      range,
    })),
  ];
}

function brokenScript(document: FrameworkDocument): Diagnostic[] {
  const problem = document.form === "python" ? pythonProblem(document.text) : undefined;
  if (problem === undefined) return [];
  const lines = new Lines(document.text);
  const start = lines.offset({ line: problem.line, character: 0 });
  const [text = ""] = document.text.slice(start).split(/\r?\n/, 1);
  const range = lines.range({
    start: start + text.length - text.trimStart().length,
    end: start + text.trimEnd().length,
  });
  const message = `This is not valid Python: ${problem.message}.`;
  return [{ ...diagnosed({ message, at: undefined }, brokenYaml, document), range }];
}

function broken(document: FrameworkDocument): Diagnostic[] {
  if (document.broken === undefined) return [];
  const { kind, range, reason } = document.broken;
  const refuses = document.framework === "verl" ? "Hydra" : "TRL";
  const message =
    kind === "aliases" ? reason : `This is not valid YAML: ${reason}. ${refuses} refuses the file.`;
  return [{ ...diagnosed({ message, at: undefined }, brokenYaml, document), range }];
}
