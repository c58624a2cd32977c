/** Answers of a task's environment and of the run's tools. What they throw, or take too long for, fails the episode. */
import { messageOf } from "../../../../shared/lib/errors.ts";
import type { Json } from "../../../../shared/lib/json.ts";
import { within } from "../../../lib/waiting/within.ts";
import { randomStream } from "../../../lib/random.ts";
import { fill } from "../../../core/templates.ts";
import type { Clock } from "../../../core/basics.ts";
import type { ChatMessage } from "../../../core/policy.ts";
import type { Played } from "../../../core/rollouts.ts";
import type { Playing } from "../../../core/slots/episodes.ts";
import type { EpisodeState } from "../../../core/slots/guidance.ts";
import type { Environment, Message, Stepped } from "../../../core/slots/environment.ts";
import type { Tool, ToolContext, ToolSpec } from "../../../core/slots/tool.ts";
import type { EpisodeHosts } from "../../environments/episodeHosts.ts";
import type { Answerer } from "./answers.ts";
import type { Episode, Said } from "./episode.ts";
import { chatMessage, chatTokens, isTool } from "./chatReplies.ts";
import { chatAgain, type Asking } from "./prompts.ts";
import { joined, replayState, replayTurns, withGreeting } from "./replayedTurns.ts";
import { callsIn, describeTools, written, type ToolCall } from "../../../core/toolCalls.ts";

/** What all episodes of a generation are answered with. */
export interface Hosting {
  readonly hosts: EpisodeHosts;
  readonly playing: Playing;
  /** Loaded: `hosts.tools`. */
  readonly tools: readonly Tool[];
  /** Of the generation's end. */
  readonly signal: AbortSignal;
  /** Where the run is; absent: an evaluation. */
  readonly clock?: Clock | undefined;
  /** Whether the environment's state is kept at every reply, for episodes that begin in the middle of others. */
  readonly keepStates: boolean;
}

export class EnvironmentAnswers implements Answerer {
  private environment: Environment | undefined;
  private played: { -readonly [Key in keyof Played]: Played[Key] };
  private readonly name: string;
  private beginning = { seed: 0, prompt: 0 };
  /** What was said after the prompt, by both sides. */
  private readonly conversation: ChatMessage[] = [];

  constructor(
    private readonly episode: Episode,
    private readonly hosting: Hosting,
  ) {
    this.name = episode.draft.prompt.key.join("/");
    const environment = this.pool !== undefined;
    this.played = { environment, calls: 0, failed_calls: 0, components: {}, seconds: 0 };
    episode.played = this.played;
  }

  private get pool(): ReturnType<EpisodeHosts["pool"]> {
    return this.hosting.hosts.pool(this.episode.draft.task.source);
  }
  /** Every tool that the policy may call: the run's, and those that the environment answers itself. */
  private get specs(): readonly ToolSpec[] {
    return [...this.hosting.tools, ...(this.pool?.environments.tools ?? [])];
  }

  async begin(): Promise<void> {
    await this.guarded(async () => {
      if (this.pool !== undefined) this.environment = await this.opened();
      const { task, resumes } = this.episode.draft;
      const prompt = resumes === undefined ? await this.reset() : task.prompt;
      if (resumes !== undefined) await this.restore(resumes.state);
      this.episode.asks(prompt, this.asking);
      if (resumes !== undefined) this.readAgain(resumes.state);
      this.episode.draft = { ...this.episode.draft, task: { ...task, prompt } };
    });
  }

  /** @throws what opening throws; the reason of the generation's end */
  private async opened(): Promise<Environment> {
    const environment = await this.pool!.take(this.hosting.signal);
    if (!this.hosting.signal.aborted) return environment;
    this.pool!.give(environment, true);
    throw this.hosting.signal.reason;
  }

  /** Rollouts of a group begin the same episode. */
  private get seed(): number {
    const { setting, draft } = this.episode;
    return randomStream(setting.decode.seed, "environment", ...draft.prompt.key.slice(0, -1)).integer(
      2 ** 31,
    );
  }

  /** What is asked: the task's prompt, and what the environment says first. */
  private async reset(): Promise<string> {
    const { environment } = this;
    const { task } = this.episode.draft;
    this.beginning = { seed: this.seed, prompt: task.prompt.length };
    if (environment === undefined) return task.prompt;
    const said = await this.timed(() => environment.reset(task, this.seed));
    this.episode.actions = said.actions;
    return withGreeting(task.prompt, said);
  }

  private async restore({ turns }: EpisodeState): Promise<void> {
    const { environment, episode } = this;
    const { task } = episode.draft;
    if (environment === undefined) return;
    const state = turns.at(-1)?.state;
    if (environment.restore === undefined || state === undefined)
      return replayTurns(environment, task, turns, (call) => this.timed(call));
    await this.timed(() => environment.restore!(task, this.seed, state));
  }

  /** An episode that goes on is read as the template writes it, where that is what the policy reads before each turn. */
  private readAgain({ turns }: EpisodeState): void {
    const { episode, hosting } = this;
    const { policy } = episode.setting;
    for (const { role, text, name } of turns) {
      if (role === "assistant") this.conversation.push({ role, content: text });
      else {
        const said: Message = {
          role: role === "tool" ? role : "user",
          text,
          ...(name !== undefined && { name }),
        };
        const taken = chatTokens(episode, [chatMessage(said, hosting.playing)], undefined);
        this.conversation.push(...(taken?.messages ?? []));
      }
    }
    const again = this.written();
    if (again === undefined) return;
    if (again.length >= policy.context)
      throw new Error("the episode so far, as the chat template writes it, fills the model's context");
    episode.reads(again);
  }

  private get asking(): Asking {
    const { calls } = this.hosting.playing;
    const words = describeTools(calls, this.specs);
    // A template describes tools that are called as JSON.
    const specs = calls === "json" ? this.specs : [];
    return words === ""
      ? this.episode.setting.asking
      : { ...this.episode.setting.asking, offers: { specs, words } };
  }

  async answer(): Promise<Said | undefined> {
    const { episode } = this;
    if (episode.last.sample.finish === "error") return undefined;
    return this.guarded(async () => {
      const { text } = episode.last;
      const calls = callsIn(text, this.hosting.playing.calls, this.specs);
      const own = calls.some((call) => this.pool?.environments.tools?.some(({ name }) => name === call.name));
      if (calls.length > 0 && !own) return this.afterCalls(calls);
      if (this.environment === undefined) return undefined;
      return this.afterStep(await this.step(text));
    });
  }

  /** A turn that calls tools: the environment hears nothing of it. */
  private async afterCalls(calls: readonly ToolCall[]): Promise<Said | undefined> {
    if (!this.episode.mayGoOn) return this.cutOff();
    const results = await this.timed((signal) =>
      Promise.all(calls.map(async (call) => ({ call, text: await this.result(call, signal) }))),
    );
    return this.said(
      results.map(({ call: { name }, text }) => ({ role: "tool", text, ...(name !== "" && { name }) })),
      false,
    );
  }

  /** @throws what the tool throws */
  private async result(call: ToolCall, signal: AbortSignal): Promise<string> {
    this.played.calls += 1;
    const tool = this.hosting.tools.find(({ name }) => name === call.name);
    if (call.kind === "call" && tool !== undefined) return tool.call(call.args, this.calling(signal));
    this.played.failed_calls += 1;
    if (call.kind === "malformed") return `Error: ${call.problem}`;
    const names = this.specs.map(({ name }) => name);
    return `Error: there is no tool ${call.name}. The tools are: ${names.join(", ")}.`;
  }

  /** What a tool may know of the call that is next. */
  private calling(signal: AbortSignal): ToolContext {
    const { draft, setting } = this.episode;
    const { clock } = this.hosting;
    const random = randomStream(setting.decode.seed, "tool", ...draft.prompt.key, this.played.calls);
    return { episode: this.name, signal, task: draft.task, random, ...(clock !== undefined && { clock }) };
  }

  /** The turns, the tokens or the context are used up: the environment says what that is worth. */
  private async cutOff(): Promise<undefined> {
    this.episode.cutsOff();
    const { environment } = this;
    if (environment?.end !== undefined) this.earns(await this.timed(() => environment.end!()));
  }

  async full(): Promise<void> {
    await this.guarded(() => this.cutOff());
  }

  private async step(text: string): Promise<Stepped> {
    const stepped = await this.timed((signal) => this.environment!.step(text, signal));
    this.earns(stepped);
    return stepped;
  }

  /** Of the last turn. */
  private earns({ reward, components }: Pick<Stepped, "reward" | "components">): void {
    if (reward !== undefined && !Number.isFinite(reward))
      throw new Error(`the environment's reward is ${reward}, which is not finite`);
    if (reward !== undefined) this.episode.rewards(reward);
    this.played.components = { ...this.played.components, ...components };
  }

  private async afterStep({ done, messages, actions }: Stepped): Promise<Said | undefined> {
    this.episode.actions = actions;
    if (done) return undefined;
    if (!this.episode.mayGoOn) return this.cutOff();
    return this.said(messages, true);
  }

  /** @param heard whether the environment heard the turn */
  private async said(messages: readonly Message[], heard: boolean): Promise<Said> {
    const tools = messages.length > 0 && messages.every(({ role }) => role === "tool");
    const state = this.hosting.keepStates ? await this.state(heard) : undefined;
    return {
      role: tools ? "tool" : "user",
      text: joined(messages.map(({ text }) => text)),
      ...(tools && messages.length === 1 && messages[0]!.name !== undefined && { name: messages[0]!.name }),
      ...(state !== undefined && { state }),
      ...this.tokensOf(messages),
    };
  }

  private async state(heard: boolean): Promise<Json | undefined> {
    const { environment, beginning } = this;
    if (environment === undefined) return undefined;
    return environment.state === undefined
      ? replayState({ ...beginning, heard })
      : this.timed(() => environment.state!());
  }

  /** As the policy reads it: by the chat template, or within its turn where it waits for a result in tags. */
  private tokensOf(messages: readonly Message[]): Pick<Said, "tokens" | "again"> {
    const { episode, hosting } = this;
    const { tokenizer } = episode.setting.policy;
    const { playing } = hosting;
    const inTurn = playing.calls === "tags" && episode.endToken === undefined && messages.every(isTool);
    const chat = inTurn
      ? undefined
      : chatTokens(
          episode,
          messages.map((message) => chatMessage(message, playing)),
          episode.endToken,
        );
    if (chat !== undefined) return { tokens: chat.tokens, again: this.again(chat.messages) };
    const texts = messages.map((message) =>
      isTool(message)
        ? written(playing, message.name ?? "", message.text)
        : fill(playing.observation, { text: message.text }),
    );
    return { tokens: tokenizer.encode(texts.join("")) };
  }

  /** The conversation with these messages, written again, where the config wants that. Within a turn (tags) nothing is. */
  private again(messages: readonly ChatMessage[]): Int32Array | undefined {
    this.conversation.push({ role: "assistant", content: this.episode.last.text }, ...messages);
    return this.written();
  }

  private written(): Int32Array | undefined {
    const { next, calls } = this.hosting.playing;
    if (next === "append" || calls === "tags") return undefined;
    const { setting, draft } = this.episode;
    return chatAgain(setting.policy.tokenizer, draft.task.prompt, this.conversation, this.asking);
  }

  /** The time that it takes counts as waited. */
  private async timed<Value>(work: (signal: AbortSignal) => Promise<Value>): Promise<Value> {
    const began = performance.now();
    const { seconds } = this.hosting.playing;
    try {
      return await within(
        seconds,
        this.environment === undefined ? "the tool" : "the environment",
        this.hosting.signal,
        work,
      );
    } finally {
      this.played.seconds += (performance.now() - began) / 1000;
    }
  }

  /** Fails the episode where something is thrown; undefined then. @throws the reason of the generation's end */
  private async guarded<Value>(work: () => Promise<Value>): Promise<Value | undefined> {
    try {
      return await work();
    } catch (error) {
      if (this.hosting.signal.aborted) throw error;
      this.episode.failed = messageOf(error);
      return undefined;
    }
  }

  end(): void {
    const { environment, episode, hosting } = this;
    hosting.hosts.ended(this.name);
    this.environment = undefined;
    if (environment === undefined) return;
    this.pool!.give(environment, episode.failed === undefined && !hosting.signal.aborted);
  }
}
