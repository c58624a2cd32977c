/** The webview's end of the wire to its host. */

interface EditorApi {
  postMessage(message: unknown): void;
  getState(): unknown;
  setState(state: unknown): void;
}
declare function acquireVsCodeApi(): EditorApi;

export interface Host<Outgoing, State> {
  post(message: Outgoing): void;
  /** What the last webview of this panel left; unchecked. */
  readonly left: unknown;
  keep(state: State): void;
}

/**
 * Connects to the host; may be called once. Messages of another version are not understood and are dropped: they come
 * from a host that was updated under an open panel, which then reloads it.
 */
export function connect<Incoming extends { readonly version: number }, Outgoing, State>(
  version: number,
  receive: (message: Incoming) => void,
): Host<Outgoing, State> {
  const api = acquireVsCodeApi();
  const current = (data: unknown): data is Incoming =>
    typeof data === "object" && data !== null && "version" in data && data.version === version;
  window.addEventListener("message", (event: MessageEvent<unknown>) => {
    if (current(event.data)) receive(event.data);
  });
  return {
    post: (message) => api.postMessage(message),
    left: api.getState(),
    keep: (state) => api.setState(state),
  };
}
