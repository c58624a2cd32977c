/** Whether the framework has the keys and accepts their values. */
import type { Diagnostic } from "../../config/check/diagnostic.ts";
import type { FrameworkDocument } from "../document.ts";
import type { DocumentModel } from "../model.ts";
import { diagnosed } from "../report.ts";
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
    ...unsetVariables(model).map(({ diagnostic, variable: { range } }) => ({
      ...diagnosed(diagnostic, diagnostic.rule, document),
      range,
    })),
  ];
}

function broken(document: FrameworkDocument): Diagnostic[] {
  if (document.broken === undefined) return [];
  const { kind, range, reason } = document.broken;
  const refuses = document.framework === "verl" ? "Hydra" : "TRL";
  const message =
    kind === "aliases" ? reason : `This is not valid YAML: ${reason}. ${refuses} refuses the file.`;
  return [{ ...diagnosed({ message, at: undefined }, brokenYaml, document), range }];
}
