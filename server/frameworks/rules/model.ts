/** A framework's configuration over the framework's defaults: what rules read. */
import type { Json } from "../../../shared/lib/json.ts";
import type { FrameworkDocument, Setting } from "../text/document.ts";
import { factsFor } from "../releases/facts.ts";
import { settingsInForce } from "../text/inForce.ts";
import { interpolated } from "../text/interpolation.ts";
import { isVerlTrainer } from "../readers/recognise.ts";
import type { RuleModel } from "./rule.ts";
import type { KeyTable } from "../releases/load.ts";
import type { KeyFact } from "../releases/tables/table.ts";
import { compareVersions } from "../text/releaseOrder.ts";

export class DocumentModel implements RuleModel {
  private readonly inForce: ReadonlyMap<string, Setting>;
  /** Keys that `~key` took away, and everything below them. */
  private readonly removed: readonly string[];
  readonly facts: KeyTable;

  constructor(readonly document: FrameworkDocument) {
    this.facts = factsFor(document.framework, document.version, document.tree);
    this.inForce = settingsInForce(document.settings);
    this.removed = document.settings.filter(({ sign }) => sign === "~").map(({ key }) => key);
  }

  written(key: string): Setting | undefined {
    return this.inForce.get(key);
  }

  value(key: string): Json | undefined {
    if (this.document.uncertain?.has(key) === true) return undefined;
    const written = this.written(key);
    if (written !== undefined) return written.value;
    const negated = this.document.form === "script" && this.document.framework === "trl";
    if (negated && this.inForce.has(`no_${key}`)) return false;
    return this.unwritten(key);
  }

  /** The value of a key that this file does not set: another file's value, else the release's default. */
  private unwritten(key: string): Json | undefined {
    const { base, incomplete } = this.document;
    const lookup = (other: string): Json | undefined => this.inForce.get(other)?.value ?? this.below(other);
    if (base.has(key)) return interpolated(base.get(key), key, lookup);
    return incomplete || this.isRemoved(key) ? undefined : interpolated(this.below(key), key, lookup);
  }

  private below(key: string): Json | undefined {
    const { base } = this.document;
    return base.has(key) ? base.get(key) : this.facts.get(key)?.default;
  }

  private isRemoved(key: string): boolean {
    return this.removed.some((other) => key === other || key.startsWith(`${other}.`));
  }

  /** The value of the framework's tree, without this file's settings. */
  original(key: string): Json | undefined {
    return interpolated(this.below(key), key, (other) => this.below(other));
  }

  /** Whether a plug-in may have added to the choices of a key. */
  isExtended(key: string, registered: ReadonlySet<string>): boolean {
    const { document } = this;
    const { text, program } = document;
    if (document.framework === "trl") return text.includes("trl.experimental");
    return (
      registered.has(key) && (!isVerlTrainer(program) || /VERL_USE_EXTERNAL_MODULES|external_lib/.test(text))
    );
  }

  fact(key: string): KeyFact | undefined {
    return this.facts.get(key);
  }

  since(version: string): boolean {
    return compareVersions(this.document.version.text, version) >= 0;
  }

  /** The value of a setting, with the keys that it names substituted. */
  resolved({ key, value }: Setting): Json | undefined {
    return interpolated(value, key, (other) => this.inForce.get(other)?.value ?? this.below(other));
  }

  number(key: string): number | undefined {
    return asNumber(this.value(key));
  }

  text(key: string): string | undefined {
    const value = this.value(key);
    return value === undefined || value === null || typeof value === "object" ? undefined : String(value);
  }

  flag(key: string): boolean | undefined {
    const value = this.value(key);
    if (typeof value === "boolean") return value;
    // Words that Transformers converts (`string_to_bool`), in TRL's YAML files too.
    if (typeof value === "string" && this.document.framework === "trl" && this.document.form !== "python")
      return /^(yes|true|t|y|1)$/i.test(value) ? true : /^(no|false|f|n|0)$/i.test(value) ? false : undefined;
    return typeof value === "number" ? value !== 0 : undefined;
  }
}

function asNumber(value: Json | undefined): number | undefined {
  if (typeof value === "number") return value;
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : Number.NaN;
  return Number.isFinite(number) ? number : undefined;
}
