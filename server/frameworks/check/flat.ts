/** Keys of TRL and OpenRLHF: flags, lines of a YAML file, keywords of a call. */
import { trainers } from "../../../shared/run/trainers.ts";
import type { Fix } from "../../config/check/diagnostic.ts";
import { replace } from "../../config/check/report.ts";
import type { Setting } from "../text/document.ts";
import { launcherArguments } from "../releases/facts/launcher.ts";
import { moveOf } from "../releases/facts/moves.ts";
import type { DocumentModel } from "../rules/model.ts";
import { historyOf, tableOf } from "../releases/load.ts";
import { movedKey, unknownKey, type KeyDiagnostic } from "./keyRules.ts";
import { trainerOfTree } from "../releases/programs/trl.ts";
import { isUnsloths } from "../trainers/trl/unsloth.ts";
import { close, meantKey } from "./near.ts";

export function flatKeys(model: DocumentModel): KeyDiagnostic[] {
  const found = model.document.settings.flatMap((setting) => new FlatKey(model, setting).diagnostics());
  // Several unknown keys: the file is for a script that reads them.
  const strange = found.filter(({ severity, rule }) => severity === "warning" && rule === unknownKey);
  return strange.length < 2
    ? found
    : found.map((one) => (strange.includes(one) ? { ...one, severity: "info" } : one));
}

class FlatKey {
  constructor(
    private readonly model: DocumentModel,
    private readonly setting: Setting,
  ) {}

  diagnostics(): KeyDiagnostic[] {
    if (this.isKnown()) return [];
    return this.moved() ?? this.unknown();
  }

  private get name(): string {
    const { framework, version } = this.model.document;
    return `${trainers[framework].name} ${version.text}`;
  }

  private get flag(): string {
    return this.model.document.form === "script" ? `--${this.setting.key}` : this.setting.key;
  }

  private isKnown(): boolean {
    const { model, setting } = this;
    const { framework, form, program } = model.document;
    const { key } = setting;
    const fact = model.fact(key);
    if (form === "python") return fact?.owner === "config" || isUnsloths(model.document, key);
    if (fact !== undefined) return true;
    // An argument that is a map: its values are its own.
    const [top = ""] = key.split(".");
    if (framework === "trl" && (top === "env" || (top !== key && model.fact(top) !== undefined))) return true;
    if (framework === "trl" && form === "yaml" && launcherArguments.has(key)) return true;
    if (form === "script") return this.isFlag(program);
    return false;
  }

  /** Argparse also accepts an unambiguous prefix of a flag; Transformers adds `--no_x` for a switch that is on. */
  private isFlag(program: string | undefined): boolean {
    const { model, setting } = this;
    const { key } = setting;
    if (program?.startsWith("trl ") === true && launcherArguments.has(key)) return true;
    if (key.startsWith("no_")) {
      const { type = "", default: fallback } = model.fact(key.slice(3)) ?? {};
      if (type.startsWith("bool") && (fallback === true || fallback === undefined)) return true;
    }
    return model.facts.keys.filter((other) => other.startsWith(key)).length === 1 && key.length > 3;
  }

  private moved(): KeyDiagnostic[] | undefined {
    const { model, setting } = this;
    const { framework } = model.document;
    const move = moveOf(framework, setting.key, model.document.tree);
    if (move === undefined) return this.later() ?? this.dropped();
    const to = move.to;
    if (!model.since(move.since) || (to !== undefined && !model.facts.has(to))) return this.later();
    const release = `${trainers[framework].name} ${this.lastSeen()?.dropped ?? move.since}`;
    const gone = this.dependsOnTransformers() ? this.transformers() : `${release} dropped \`${this.flag}\`.`;
    const dashes = model.document.form === "script" ? "--" : "";
    const now = to === undefined ? gone : `\`${this.flag}\` is \`${dashes}${to}\` since ${release}.`;
    const message = `${now}${move.note === undefined ? "" : ` ${move.note}`}${this.ignored(to)}`;
    return this.diagnostic(message, to === undefined ? [] : this.renamed(to));
  }

  /** TRL's own scripts pass over what they do not know: what the run has instead. */
  private ignored(to: string | undefined): string {
    const { model } = this;
    if (this.severity() !== "warning" || !/\btrl[./]scripts\b/.test(model.document.program ?? "")) return "";
    const value = to === undefined || model.written(to) !== undefined ? undefined : model.value(to);
    return value === undefined || value === null
      ? " It is ignored here."
      : ` It is ignored here: the run has \`${to}\` ${String(value)}.`;
  }

  private diagnostic(message: string, fixes: readonly Fix[] = []): KeyDiagnostic[] {
    return [{ rule: movedKey, severity: this.severity(), at: this.setting, message, fixes }];
  }

  /** A key that came after the release that the file is for. */
  private later(): KeyDiagnostic[] | undefined {
    const { framework } = this.model.document;
    const rows = historyOf(framework, this.setting.key, this.model.document.tree);
    const first = rows[0] === undefined ? undefined : tableOf(framework).versions[rows[0].from];
    if (first === undefined || this.model.since(first)) return undefined;
    const message = `\`${this.flag}\` came with ${trainers[framework].name} ${first}. This file is checked against ${this.name}, which does not have it.`;
    return this.diagnostic(message);
  }

  /** The first release without the key, if an older one had it for this program. */
  private lastSeen(): { readonly dropped: string } | undefined {
    const { framework, tree } = this.model.document;
    const last = historyOf(framework, this.setting.key, tree).at(-1);
    const dropped = last === undefined ? undefined : tableOf(framework).versions[last.to + 1];
    return dropped === undefined ? undefined : { dropped };
  }

  private dropped(): KeyDiagnostic[] | undefined {
    const seen = this.lastSeen();
    if (seen === undefined || !this.model.since(seen.dropped)) return undefined;
    const message = `${trainers[this.model.document.framework].name} ${seen.dropped} dropped \`${this.flag}\`.`;
    return this.diagnostic(message);
  }

  private dependsOnTransformers(): boolean {
    return this.model.document.framework === "trl" && historyOf("transformers", this.setting.key).length > 0;
  }

  private transformers(): string {
    const last = historyOf("transformers", this.setting.key).at(-1);
    const next = last === undefined ? undefined : tableOf("transformers").versions[last.to + 1];
    return `Transformers ${next ?? "5"} no longer has \`${this.flag}\`.`;
  }

  private unknown(): KeyDiagnostic[] {
    const { model, setting } = this;
    const { framework, form } = model.document;
    const severity = this.severity();
    const meant = meantKey(setting.key, model.facts);
    const near = meant !== undefined && close(setting.key, meant);
    if (severity === "warning" && !near && form === "script") return [];
    const { tree } = model.document;
    const config = trainerOfTree(tree)?.config ?? "GRPOConfig";
    const refuser =
      form === "python" ? `\`${config}\`` : framework === "trl" ? `\`trl ${tree ?? "grpo"}\`` : "its parser";
    // With a comment that starts TRL's own program no other script reads the file.
    const started = model.document.program?.startsWith("trl ") === true;
    const only =
      framework === "trl" && form === "yaml" && !near && !started ? " Your own script may read it." : "";
    const message = `${this.name} has no \`${this.flag}\`: ${refuser} refuses it.${near ? ` Did you mean \`${meant}\`?` : only}`;
    return [
      {
        rule: unknownKey,
        severity: only === "" ? severity : "warning",
        at: setting,
        message,
        fixes: near ? this.renamed(meant) : [],
      },
    ];
  }

  /** The user's own program may have its own arguments, and the installed Transformers is often unknown. */
  private severity(): "error" | "warning" {
    const { program, framework, version, form, patched } = this.model.document;
    // Unsloth drops what TRL does not accept, with a warning: unsloth/models/rl_config_compat.py.
    if (patched !== undefined) return "warning";
    if (this.dependsOnTransformers() && version.from !== "installed") return "warning";
    return framework === "trl" && form === "script" && program?.startsWith("trl ") !== true
      ? "warning"
      : "error";
  }

  private renamed(to: string): Fix[] {
    const { key, keyRange, shared } = this.setting;
    if (shared === true || keyRange.end.character - keyRange.start.character !== key.length) return [];
    return [replace(keyRange, to, `Rename to \`${to}\``)];
  }
}
