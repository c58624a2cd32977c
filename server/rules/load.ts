/** Reads a config: `extends`, `--set`, defaults, stages, checks, rules. The editor, the command line and the run all call this. */
import { dirname, resolve } from "node:path";
import { UserError, readFailure } from "../../shared/lib/errors.ts";
import type { JsonObject } from "../../shared/lib/json.ts";
import { limits, readText } from "../lib/inputFile.ts";
import { parseAssignment } from "../config/address.ts";
import { capSteps } from "../config/build/capSteps.ts";
import type { Range } from "../lib/lines.ts";
import type { Diagnostic } from "../config/check/diagnostic.ts";
import { SourceEdits } from "../config/text/edits.ts";
import { assemble, examine, originsOf, type Examined } from "../config/check/examine.ts";
import { Extender } from "../config/extend.ts";
import { configKind, type ConfigKind } from "../config/configKind.ts";
import { grammar } from "../config/grammar/grammar.ts";
import { merge, type MergeProblem } from "../config/merge.ts";
import { needs, Unread, type Part } from "../config/needs.ts";
import { mapNode, startOfFile, type MapNode, type Origin, type SourceNode } from "../config/text/node.ts";
import type { KeysOfEngine } from "../core/config/engineKeys.ts";
import type { ModelFacts } from "../core/config/modelFacts.ts";
import { withPolicyModel } from "../config/policyModel.ts";
import { withStageModels } from "../config/grammar/stageKindBlocks.ts";
import { Collector, unknownName, type Report } from "../config/check/report.ts";
import type { RunConfig } from "../core/config/runConfig.ts";
import { checkRules } from "./index.ts";
import type { ConfigModel, StageView } from "../config/check/model.ts";
import { isTooLong, tooLongWords } from "../config/text/tooLong.ts";
import { salvage } from "../config/check/salvage.ts";
import { withDefaults } from "../config/stages.ts";
import { Watch, watchedConfig, watchedStage } from "../config/check/watched.ts";

export interface LoadOptions {
  /** The text to read instead of the file's: an unsaved document. */
  readonly text?: string;
  /** `path=value`, in order. */
  readonly set?: readonly string[];
  /** Caps the total of rl steps; sft stages keep theirs. */
  readonly steps?: number;
  readonly seed?: number;
  /** Where relative paths in `set` start from; default: the config's folder. */
  readonly folder?: string;
  /** The config is only applied to recorded rollouts: it need have no task, no reward, and nothing to train. */
  readonly recorded?: boolean;
  /** What this use reads (`needs.ts`): what is wrong with the rest is a warning. Default: everything. */
  readonly needs?: readonly Part[];
  /** Looks at the models that the config names; without it they need only be there. */
  readonly models?: ModelFacts;
  /** The settings of other trainers; without it `engine.args` are not looked at. */
  readonly engineKeys?: KeysOfEngine;
  /** How far the runs of a `sweep` are looked at: a few combinations unless said, all, or not at all. */
  readonly trials?: "combinations" | "none";
}

/** Who wrote a value; `line` counts from 1, and is 0 where no file wrote it. */
export interface ValueOrigin {
  readonly file: string;
  readonly line: number;
  readonly via: readonly string[];
}

export interface LoadedConfig {
  /** undefined when a diagnostic is an error. */
  readonly config: RunConfig | undefined;
  readonly diagnostics: readonly Diagnostic[];
  /**
   * What is computed from the config; where values of it cannot be read, from what does not rest on them. undefined: it
   * does, or too little could be read.
   */
  readonly ask: <Value>(compute: (config: RunConfig) => Value) => Value | undefined;
  /** Whether what is wrong with it leaves alone all that a use reads. */
  readonly serves: (needed: readonly Part[]) => boolean;
  /** Whether every value could be read; else the rules were asked about what does not rest on those that could not. */
  readonly readable: boolean;
  /** The resolved tree as plain data; holds what could be read when there are errors. */
  readonly tree: JsonObject;
  /** By path as `--set` addresses it: `tasks.countdown.numbers`. */
  readonly origins: Readonly<Record<string, ValueOrigin>>;
  /** Every file that was read, this one first. */
  readonly files: readonly string[];
  /** The merged values with their places, for the editor. */
  readonly root: MapNode;
  /** The file's own values, nothing merged; undefined when it has none. */
  readonly source: SourceNode | undefined;
}

/** Throws UserError when the file cannot be read or a `set` cannot be parsed; everything else is a diagnostic. */
export function loadConfig(file: string, options: LoadOptions = {}): LoadedConfig {
  return new Loader(resolve(file), options).load();
}

/** Only the diagnostics. */
export const allDiagnostics = (file: string, options: LoadOptions): readonly Diagnostic[] =>
  loadConfig(file, options).diagnostics;

class Loader {
  private readonly collector: Collector;
  private readonly extender: Extender;
  private readable = false;
  /** Keys of the values that cannot be read. */
  private unreadable: readonly string[] = [];
  private unread = new Unread([], [], []);
  private serves: LoadedConfig["serves"] = () => false;
  private ask: LoadedConfig["ask"] = () => undefined;
  private readonly text: string;
  private madeEdits: SourceEdits | undefined;
  private unaddressed = 0;

  constructor(
    private readonly file: string,
    private readonly options: LoadOptions,
  ) {
    this.text = options.text ?? textOf(file);
    this.collector = new Collector(
      file,
      (origin) => this.rangeAt(origin),
      () => this.edits,
    );
    this.extender = new Extender(this.collector.report, (diagnostics, frame) => {
      for (const diagnostic of diagnostics) this.syntax(diagnostic, frame);
    });
  }

  load(): LoadedConfig {
    const { text } = this;
    if (isTooLong(text)) return this.tooLong();
    const kind = configKind(text);
    const root = this.merged(kind === "gradus" ? text : "");
    if (kind !== "gradus") return this.ofFramework(root, kind);
    if (this.extender.broken) return this.result(root, {}, () => new Map(), undefined);
    const { report, blocked: orphaned } = this.collector;
    const found = examine(root, this.file, report, (problem) => this.mergeProblem(problem));
    this.readable = !this.collector.blocked;
    this.unreadable = [...this.collector.keys];
    this.unread = new Unread(this.unreadable, this.collector.meant, []);
    const config = this.checked(root, found, orphaned);
    return this.result(found.top.node, found.top.json, () => originsOf(found), config);
  }

  /** An editor's text; of a file on disk the size alone says so. */
  private tooLong(): LoadedConfig {
    const at: Origin = {
      file: this.file,
      folder: dirname(this.file),
      range: startOfFile,
      via: [],
      layer: "file",
    };
    this.collector.report({ rule: "syntax", message: tooLongWords, key: "", at });
    return this.result(mapNode(at, []), {}, () => new Map(), undefined);
  }

  private checked(root: MapNode, found: Examined, orphaned: boolean): RunConfig | undefined {
    const { meant } = this.collector;
    if (this.readable) return meant.length === 0 ? this.build(found) : this.lookPast(found, meant);
    // Without a parent most values are not those that were meant.
    const rest = orphaned ? undefined : this.salvaged(root);
    return rest && this.lookPast(rest.found, [...meant, ...rest.aside]);
  }

  private build(found: Examined): RunConfig | undefined {
    const { config, views } = assemble(this.file, found);
    this.ask = (compute) => compute(config);
    checkRules(this.model(found, config, views, this.collector.report), this.options.recorded === true);
    this.serves = (needed) => !this.failsFor(needed);
    return this.serves(this.needed) ? config : undefined;
  }

  private get needed(): readonly Part[] {
    return this.options.needs ?? needs.whole;
  }

  /** Those of parts that this use does not read are warnings. */
  private get diagnostics(): readonly Diagnostic[] {
    const { diagnostics } = this.collector;
    const { needs: needed } = this.options;
    if (needed === undefined) return diagnostics;
    return diagnostics.map((one) =>
      one.severity === "error" && !this.unread.concerns(one, needed) ? { ...one, severity: "warning" } : one,
    );
  }

  private failsFor(needed: readonly Part[]): boolean {
    return this.collector.diagnostics.some(
      (one) => one.severity === "error" && this.unread.concerns(one, needed),
    );
  }

  /** The tree with others in the place of values that cannot be read. */
  private salvaged(
    root: MapNode,
  ): { readonly found: Examined; readonly aside: readonly string[] } | undefined {
    let found: Examined | undefined;
    const salvaged = salvage(root, this.collector.keys, (tree) => {
      const collector = new Collector(this.file, () => startOfFile);
      found = examine(tree, this.file, collector.report, (problem) => this.mergeProblem(problem, collector));
      return collector.keys;
    });
    return salvaged === undefined || found === undefined ? undefined : { found, aside: salvaged.aside };
  }

  /**
   * Runs the rules when something cannot be read: a diagnostic that depends on it is dropped. The config is there for a
   * use that reads nothing of what was put aside.
   */
  private lookPast(found: Examined, aside: readonly string[]): RunConfig | undefined {
    const watch = new Watch(aside);
    const { config, views } = assemble(this.file, found);
    const stages = views.map((view) => ({ ...view, config: watchedStage(view.config, watch) }));
    const report: Report = (diagnostic) => {
      if (!watch.touched && !watch.concerns(diagnostic.key)) this.collector.report(diagnostic);
    };
    const seen = watchedConfig(config, watch);
    const model = this.model(found, seen, stages, report);
    checkRules(model, this.options.recorded === true, () => (watch.touched = false));
    this.ask = (compute) => {
      watch.touched = false;
      const value = compute(seen);
      return watch.touched ? undefined : value;
    };
    this.unread = new Unread(this.unreadable, this.collector.meant, aside);
    this.serves = (needed) => !this.failsFor(needed) && !this.unread.replaces(needed);
    return this.serves(this.needed) ? config : undefined;
  }

  private model(
    { top }: Examined,
    config: RunConfig,
    stages: readonly StageView[],
    report: Report,
  ): ConfigModel {
    const capped = this.options.steps !== undefined;
    const { edits, file } = this;
    const { inherited, mixed } = this.extender;
    const { models: facts, engineKeys, trials } = this.options;
    const withSet = trials === "none" ? undefined : (set: readonly string[]) => this.withSet(set);
    const known = { facts, engineKeys, withSet, thorough: trials === "combinations" };
    return { config, root: top.node, inherited, mixed, stages, file, capped, ...known, report, edits };
  }

  private withSet(more: readonly string[]): readonly Diagnostic[] {
    const { text, options } = this;
    const set = [...(options.set ?? []), ...more];
    return new Loader(this.file, { ...options, text, set, trials: "none" }).load().diagnostics;
  }

  /** Once the file has been read. */
  private get edits(): SourceEdits {
    return (this.madeEdits ??= new SourceEdits(this.text, this.extender.source));
  }

  /** Another framework's config: reporting each of its keys as unknown would not help. */
  private ofFramework(root: MapNode, kind: Exclude<ConfigKind, "gradus">): LoadedConfig {
    this.collector.report({
      rule: "not-yet",
      message: `This looks like a ${kind} config. This version of Gradus reads only its own configs, so nothing in the file was checked.`,
      key: "",
      at: root.origin,
    });
    return this.result(root, {}, () => new Map(), undefined);
  }

  /** Everything anybody wrote, without the defaults. */
  private merged(text: string): MapNode {
    let root = this.extender.load(this.file, text);
    const folder = this.options.folder ?? dirname(this.file);
    const assignments = [
      ...(this.options.set ?? []),
      ...(this.options.seed === undefined ? [] : [`seed=${this.options.seed}`]),
    ];
    for (const assignment of assignments) {
      const { path, tree } = parseAssignment(assignment, folder);
      // A setting may address a default: what it merges into has them underneath.
      const next = merge(path.length > 1 ? withDefaults(root) : root, tree, grammar, (problem) =>
        this.mergeProblem(problem),
      );
      if (next.kind === "map") root = next;
    }
    root = withStageModels(withPolicyModel(root, (problem) => this.mergeProblem(problem)));
    return this.options.steps === undefined ? root : capSteps(root, this.options.steps);
  }

  private mergeProblem(
    { message, entry, path, allowed, name }: MergeProblem,
    { report } = this.collector,
  ): void {
    // The search for the meant name is linear in the names: after the first hundred they are only reported.
    const { hint, fixes } =
      (this.unaddressed += 1) > 100
        ? { hint: "Fix the names above first.", fixes: [] }
        : unknownName(name, allowed, entry.key);
    report({
      rule: "unknown-name",
      message: `${message}. ${hint}`,
      key: path,
      at: entry.key,
      fixes,
    });
  }

  private syntax(
    diagnostic: Diagnostic,
    { main, file, via }: { main: boolean; file: string; via: readonly string[] },
  ): void {
    if (main) this.collector.add(diagnostic);
    else {
      const at: Origin = { file, folder: dirname(file), range: diagnostic.range, via, layer: "file" };
      this.collector.report({ rule: diagnostic.rule, message: diagnostic.message, key: "extends", at });
    }
  }

  private rangeAt(origin: Origin): Range {
    const [first] = origin.via;
    return (first === undefined ? undefined : this.extender.parents.get(first)?.range) ?? startOfFile;
  }

  private result(
    root: MapNode,
    tree: JsonObject,
    origins: () => ReadonlyMap<string, Origin>,
    config: RunConfig | undefined,
  ): LoadedConfig {
    const { diagnostics } = this;
    let plain: LoadedConfig["origins"] | undefined;
    return {
      config,
      diagnostics,
      ask: this.ask,
      serves: this.serves,
      readable: this.readable,
      tree,
      get origins() {
        return (plain ??= plainOrigins(origins()));
      },
      files: this.extender.files,
      root,
      source: this.extender.source,
    };
  }
}

const plainOrigins = (origins: ReadonlyMap<string, Origin>): LoadedConfig["origins"] =>
  Object.fromEntries(
    [...origins].filter(([path]) => path !== "").map(([path, origin]) => [path, plainOrigin(origin)]),
  );

function plainOrigin({ file, range, via, layer }: Origin): ValueOrigin {
  if (layer === "default") return { file: "default", line: 0, via };
  return layer === "set"
    ? { file: `--set ${file}`, line: 0, via }
    : { file, line: range.start.line + 1, via };
}

function textOf(file: string): string {
  try {
    return readText(file, limits.config);
  } catch (error) {
    throw new UserError(`the config cannot be read: ${readFailure(error)}`, {
      file,
      code: "missing-file",
      cause: error,
      action: "Check the path, or make a config with `gradus init`.",
    });
  }
}
