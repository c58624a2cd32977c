/** OpenRLHF's flags by their dotted names, whether a script writes those or the flat ones from before 0.10.2. */
import type { Json } from "../../../../shared/lib/json.ts";
import type { Setting } from "../../text/document.ts";
import { flatNames } from "../../releases/facts/moves.ts";
import type { RuleDiagnostic, RuleModel } from "../../rules/rule.ts";

export class Flags {
  constructor(readonly model: RuleModel) {}

  /** The setting in force, under either name. */
  written(name: string): Setting | undefined {
    return this.model.written(name) ?? this.model.written(flatNames.get(name) ?? name);
  }

  /** What is written, else the release's default. */
  value(name: string): Json | undefined {
    const setting = this.written(name);
    if (setting !== undefined) return setting.value;
    const flat = flatNames.get(name);
    return flat === undefined || this.model.fact(name) !== undefined
      ? this.model.value(name)
      : this.model.value(flat);
  }

  /** undefined also for what argparse refuses: it does not read `1e3` as a whole number. */
  number(name: string): number | undefined {
    const value = this.value(name);
    const whole = this.model.fact(this.written(name)?.key ?? name)?.type.startsWith("int") === true;
    const refused = whole && /^[-+\d.]+e/i.test(this.written(name)?.text ?? "");
    return typeof value === "number" && !refused ? value : undefined;
  }

  /** Whether this is a run rather than a part of one: it names a model and prompts. */
  get isRun(): boolean {
    return ["actor.model_name_or_path", "data.prompt_dataset"].every(
      (name) => this.written(name) !== undefined,
    );
  }

  text(name: string): string | undefined {
    const value = this.value(name);
    return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
  }

  /** A switch is on if it is present. */
  on(name: string): boolean {
    return this.value(name) === true;
  }

  /** Whether there is no value, neither here nor by default. */
  lacks(name: string): boolean {
    return this.value(name) === null;
  }

  /** The name as this script spells it. */
  name(name: string): string {
    const flat = flatNames.get(name);
    const old =
      this.written(name)?.key === flat ||
      (this.written(name) === undefined && this.model.fact(name) === undefined);
    return `--${flat !== undefined && old ? flat : name}`;
  }

  /** The settings that the script has: the first for the diagnostic, the others as related places. */
  placed(...names: readonly string[]): { at: Setting | undefined; related: readonly Setting[] } {
    const [at, ...related] = names.flatMap((name) => this.written(name) ?? []);
    return { at, related };
  }

  /** A diagnostic at the first of these settings that the script has, else at its head. */
  diagnostic(
    names: readonly string[],
    message: string,
    extras: Omit<RuleDiagnostic, "message" | "at"> = {},
  ): RuleDiagnostic[] {
    return [{ message, ...this.placed(...names), ...extras }];
  }
}
