/** verl's keys, by Hydra's rules: what an override changes, adds and removes. */
import type { Fix } from "../../config/check/diagnostic.ts";
import { replace } from "../../config/check/report.ts";
import type { Setting } from "../text/document.ts";
import { moveOf } from "../releases/facts/moves.ts";
import type { DocumentModel } from "../rules/model.ts";
import { groupDiagnostics, isGroupName, sectionDiagnostics } from "./groups.ts";
import { engineKeys } from "./engineKeys.ts";
import { addedKey, movedKey, unknownKey, type KeyDiagnostic } from "./keyRules.ts";
import { hasOwnProgram } from "../readers/ownProgram.ts";
import { meantKey, namesake } from "./near.ts";

/** Hydra's own settings, and words that are not settings. */
const others = /^(hydra|defaults)\b|(^|\.)_/;

/** Sections from which verl builds an object in every training. */
const alwaysMade = /^(actor_rollout_ref\.(actor|rollout|model)|critic)(\.|$)/;

export function hydraKeys(model: DocumentModel): KeyDiagnostic[] {
  const added = new Set<string>();
  const engine = engineKeys(model);
  const found = model.document.settings.flatMap((setting) => {
    const found =
      others.test(setting.key) || engine?.settings.has(setting) === true
        ? []
        : isGroupName(setting.key)
          ? groupDiagnostics(model, setting)
          : [...new HydraKey(model, setting, added).diagnostics(), ...sectionDiagnostics(model, setting)];
    if (setting.sign.startsWith("+")) added.add(setting.key);
    return found;
  });
  return engine === undefined ? found : [...found, engine.diagnostic];
}

class HydraKey {
  private readonly isOverride: boolean;
  private readonly known: boolean;

  constructor(
    private readonly model: DocumentModel,
    private readonly setting: Setting,
    private readonly added: ReadonlySet<string>,
  ) {
    const { document, facts } = model;
    this.isOverride = document.form === "script";
    this.known = facts.has(setting.key) || document.base.has(setting.key) || this.isSection(setting.key);
  }

  diagnostics(): KeyDiagnostic[] {
    const { sign } = this.setting;
    // Another program reads the file: keys that verl lacks may be that program's own.
    if (!this.isOverride && this.model.document.program !== undefined) return [];
    if (!this.isOverride) return this.known || this.isOpen() ? [] : this.unread();
    switch (sign) {
      case "+":
        return this.known ? this.appended() : this.isOpen() ? [] : this.unread();
      case "++":
        return this.known || this.isOpen() ? [] : this.unread();
      case "~":
        return this.known || this.model.document.incomplete
          ? []
          : this.refused("Hydra cannot delete a key that does not exist");
      case "":
        return this.changed();
    }
  }

  private isSection(key: string): boolean {
    return this.model.facts.sections.has(key);
  }

  /** Below a map of anything, or of something that this file adds. */
  private isOpen(): boolean {
    return this.above().some((key) => {
      // Its fields are those of a class of the user's own.
      if (this.isOfOwnClass(key)) return true;
      const fact = this.model.fact(key);
      // A null has no section: the user's own keys may go there.
      return fact?.open === true || (fact?.default === null && !this.isSection(key)) || this.added.has(key);
    });
  }

  private isOfOwnClass(section: string): boolean {
    const key = `${section}._target_`;
    const { value } = this.model.written(key) ?? {};
    return typeof value === "string" && value !== this.model.fact(key)?.default;
  }

  private above(): string[] {
    const parts = this.setting.key.split(".");
    return parts.slice(1).map((_, i) => parts.slice(0, i + 1).join("."));
  }

  /** `key=`: Hydra changes only an existing key. */
  private changed(): KeyDiagnostic[] {
    const { setting, model } = this;
    if (
      [...this.added].some(
        (key) =>
          setting.key === key || key.startsWith(`${setting.key}.`) || setting.key.startsWith(`${key}.`),
      )
    )
      return [];
    const fact = model.fact(setting.key);
    if (this.known && fact?.plus !== true) return [];
    if (model.document.incomplete) return this.unread();
    const moved = this.moved("error");
    if (moved !== undefined) return moved;
    if (fact?.plus === true || this.isOpen())
      return [
        {
          rule: addedKey,
          at: setting,
          message: `Hydra refuses \`${setting.key}=\`: the key is not in verl's tree. \`+${setting.key}=\` adds it.`,
          fixes: [this.signed("+")],
        },
      ];
    return this.refused("Hydra refuses to change a key that is not in its tree");
  }

  /** `+key=`: Hydra adds only a key that does not exist, is null, or is a map or list that it merges. */
  private appended(): KeyDiagnostic[] {
    const { setting, model } = this;
    const fact = model.fact(setting.key);
    const merges =
      setting.shared === true || Array.isArray(setting.value) || typeof setting.value === "object";
    if (fact?.plus === true || merges || model.document.incomplete || this.isSection(setting.key)) return [];
    const present = model.original(setting.key);
    if (present === undefined || present === null || this.added.has(setting.key)) return [];
    return [
      {
        rule: addedKey,
        at: setting,
        message: `Hydra refuses \`+${setting.key}=\`: verl's tree already has the key. Remove the \`+\`.`,
        fixes: [this.signed("")],
      },
    ];
  }

  private signed(sign: string): Fix {
    const { keyRange, sign: old, shared } = this.setting;
    const start = { line: keyRange.start.line, character: keyRange.start.character - old.length };
    const title = sign === "" ? "Remove the `+`" : `Write \`${sign}\` before it`;
    return replace({ start, end: keyRange.start }, sign, title, shared !== true);
  }

  private refused(reason: string): KeyDiagnostic[] {
    return this.moved("error") ?? [this.unknown("error", `${reason}: \`${this.setting.key}\`.`)];
  }

  /** Accepted; an object that verl makes of the section refuses it, else nothing reads it. */
  private unread(): KeyDiagnostic[] {
    const { setting, model } = this;
    const made = this.closedSection();
    const severity = made !== undefined && this.composed() ? "error" : "warning";
    const moved = this.moved(severity);
    if (moved !== undefined) return moved;
    const meant = meantKey(setting.key, model.facts);
    if (made !== undefined && severity === "error")
      return [
        this.unknown(
          "error",
          `verl ${model.facts.version} builds \`${made.name}\` from this section, and it has no field \`${made.field}\`: the run fails when the workers start.`,
        ),
      ];
    if (meant === undefined) return [];
    return [
      this.unknown(
        "warning",
        `Hydra accepts \`${setting.key}\`, but nothing in verl ${model.facts.version} reads it: \`${meant}\` keeps its default.`,
      ),
    ];
  }

  /** Whether this tree builds on verl's own, so that its sections become objects. */
  private composed(): boolean {
    const { incomplete, form, text, file } = this.model.document;
    if (form === "yaml" && hasOwnProgram(file)) return false;
    return !incomplete && (form === "script" || /^\s*-?\s*.*ppo_\w*trainer/m.test(text));
  }

  /** The class of the innermost known section above, and the name that is not a field of it. */
  private closedSection(): { readonly name: string; readonly field: string } | undefined {
    const section = this.above().findLast((key) => this.isSection(key));
    if (section === undefined || !alwaysMade.test(section)) return undefined;
    const target = this.model.fact(`${section}._target_`)?.default;
    const field = this.setting.key.slice(section.length + 1).split(".")[0] ?? "";
    return typeof target === "string" ? { name: target.split(".").at(-1) ?? "", field } : undefined;
  }

  private moved(severity: "error" | "warning"): KeyDiagnostic[] | undefined {
    const { setting, model } = this;
    const move = moveOf("verl", setting.key);
    const to = move?.to;
    if (move === undefined || !model.since(move.since) || (to !== undefined && !model.facts.has(to)))
      return undefined;
    const now =
      to === undefined
        ? `verl ${move.since} dropped \`${setting.key}\`.`
        : `\`${setting.key}\` is \`${to}\` since verl ${move.since}.`;
    const renamed = to === undefined || setting.shared === true || !this.isOverride ? [] : [this.renamed(to)];
    return [
      {
        rule: movedKey,
        severity,
        at: setting,
        message: move.note === undefined ? now : `${now} ${move.note}`,
        fixes: renamed,
      },
    ];
  }

  private renamed(to: string): Fix {
    const { keyRange } = this.setting;
    return replace(keyRange, to, `Rename to \`${to}\``);
  }

  private unknown(severity: "error" | "warning", message: string): KeyDiagnostic {
    const { setting, model } = this;
    const meant =
      meantKey(setting.key, model.facts) ??
      (severity === "error" ? namesake(setting.key, model.facts) : undefined);
    const hint =
      meant === undefined || message.includes(`\`${meant}\``)
        ? message
        : `${message} Did you mean \`${meant}\`?`;
    const fixes = meant === undefined || setting.shared === true ? [] : this.corrected(meant);
    return { rule: unknownKey, severity, at: setting, message: hint, fixes };
  }

  /** In YAML the key's own line holds its last name only. */
  private corrected(meant: string): Fix[] {
    const { key, keyRange, sign } = this.setting;
    if (this.isOverride) {
      const bare = sign === "+" && this.model.fact(meant)?.plus !== true;
      const start = { line: keyRange.start.line, character: keyRange.start.character - (bare ? 1 : 0) };
      return [replace({ start, end: keyRange.end }, meant, `Change to \`${meant}\``)];
    }
    const [section, name] = [meant.split(".").slice(0, -1).join("."), meant.split(".").at(-1) ?? ""];
    return key.split(".").slice(0, -1).join(".") === section
      ? [replace(keyRange, name, `Change to \`${name}\``)]
      : [];
  }
}
