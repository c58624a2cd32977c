/** A model's chat template: Jinja as transformers' `apply_chat_template` renders it. */
import type { Template } from "@huggingface/jinja";
import { messageOf, UserError } from "../../../shared/lib/errors.ts";
import type { ChatMessage, ChatOptions } from "../../core/policy.ts";
import { patchedTemplate } from "./patchedJinja.ts";

export class ChatTemplate {
  private readonly template: Template;

  /**
   * @param source - the Jinja text
   * @param tokens - `bos_token`, `eos_token` and the other special tokens that templates write by name
   * @throws UserError where the text is no template.
   */
  constructor(
    readonly source: string,
    private readonly tokens: Readonly<Record<string, string>>,
    private readonly file: string,
  ) {
    try {
      this.template = patchedTemplate(source);
    } catch (error) {
      throw new UserError(`${file}: the chat template cannot be read: ${messageOf(error)}.`, {
        file,
        code: "chat-template",
        action: "Correct the template, or leave it out and prompt the model with plain text.",
        cause: error,
      });
    }
  }

  /** @throws UserError with the template's own message where it refuses these messages (e.g. a second system message). */
  render(
    messages: readonly ChatMessage[],
    { add_generation_prompt = true, variables = {}, tools = [] }: ChatOptions = {},
  ): string {
    try {
      return this.template.render({
        ...this.tokens,
        messages,
        add_generation_prompt,
        ...(tools.length > 0 && { tools: tools.map((tool) => ({ type: "function", function: tool })) }),
        ...variables,
      });
    } catch (error) {
      throw new UserError(`The model's chat template refuses this conversation: ${messageOf(error)}.`, {
        file: this.file,
        code: "chat-messages",
        action:
          "Change the roles (most templates want an optional system message, then user and assistant in turns).",
        cause: error,
      });
    }
  }
}
