/** What answers the episodes of stages with `rollout.shape: environment`: environments and tools, opened once a run. */
import { create } from "../../core/create.ts";
import type { StageBody } from "../../core/config/resolved.ts";
import type { CreateContext } from "../../core/declaration.ts";
import type { Environments } from "../../core/slots/environment.ts";
import type { Tool, Tools } from "../../core/slots/tool.ts";
import { UserError } from "../../../shared/lib/errors.ts";
import type { Prepared } from "../../lib/own/prepared.ts";
import { EnvironmentPool } from "./environmentPool.ts";

export class EpisodeHosts {
  private readonly pools = new Map<string, EnvironmentPool>();
  private readonly choices: readonly Tools[];
  private opened: Promise<readonly Tool[]> | undefined;
  /** The user's code, once it is prepared: of environments by their source's name in the config, of tools by their names. */
  readonly loaded = { environments: new Map<string, Prepared>(), tools: new Map<string, Prepared>() };

  constructor(
    body: Pick<StageBody, "tasks" | "rollout">,
    private readonly context: CreateContext,
  ) {
    for (const task of body.tasks) {
      const environments = this.environmentsOf(task);
      if (environments !== undefined) this.pools.set(task.name, new EnvironmentPool(environments));
    }
    this.choices = body.rollout.tools.map((choice) => create(choice, context));
  }

  /** What `play` names, else what the source brings with it. */
  private environmentsOf({
    name,
    play,
    source,
    generate,
  }: StageBody["tasks"][number]): Environments | undefined {
    if (play !== undefined) return create(play, this.context, name);
    return generate === undefined ? create(source, this.context, name).play : undefined;
  }

  /** Of the tasks of a source, by its name in the config; undefined: they have no environment. */
  pool(source: string): EnvironmentPool | undefined {
    return this.pools.get(source);
  }

  /** What the policy may call. @throws UserError where a tool cannot be opened, or two have one name */
  tools(): Promise<readonly Tool[]> {
    return (this.opened ??= this.openTools());
  }
  private async openTools(): Promise<readonly Tool[]> {
    const opened = await Promise.all(this.choices.map((choice) => choice.open()));
    for (const [at, { made }] of this.choices.entries())
      if (made !== undefined) this.loaded.tools.set(opened[at]!.map(({ name }) => name).join(", "), made);
    const tools = opened.flat();
    const names = tools.map(({ name }) => name);
    const twice = names.find((name, i) => names.indexOf(name) < i);
    if (twice === undefined) return tools;
    throw new UserError(`Two of rollout.tools are named ${twice}.`, {
      code: "tool-name",
      action: "Give one of them another name, or leave it out.",
    });
  }

  /** Loads what is shared, so that what is missing is reported before the first step. @throws UserError */
  async prepare(): Promise<void> {
    await Promise.all([
      ...[...this.pools.values()].map(({ environments }) => environments.prepare?.()),
      this.tools(),
    ]);
    for (const [source, { environments }] of this.pools)
      if (environments.made !== undefined) this.loaded.environments.set(source, environments.made);
  }

  /** An episode has ended. */
  ended(episode: string): void {
    for (const choice of this.choices) choice.ended?.(episode);
  }

  async close(): Promise<void> {
    await Promise.all([
      ...[...this.pools.values()].map((pool) => pool.end()),
      ...this.choices.map((choice) => choice.close?.()),
    ]);
  }
}
