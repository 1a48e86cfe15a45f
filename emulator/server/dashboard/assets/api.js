// Asks the server. The token is kept in this variable and nowhere else.

let token = null;

export const useToken = (given) => { token = given; };

export class Failed extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

const PATIENCE = 15_000;

async function ask(method, path, body) {
  const headers = token === null ? {} : { Authorization: `Bearer ${token}` };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let response;
  try {
    response = await fetch(`/dashboard/data/${path}`, {
      method, headers, body: body === undefined ? undefined : JSON.stringify(body), cache: "no-store",
      signal: method === "GET" ? AbortSignal.timeout(PATIENCE) : undefined,
    });
  } catch (error) {
    throw new Failed(0, error.name === "TimeoutError" ? "The server takes too long to answer." : "The server does not answer.");
  }
  const value = await response.json().catch(() => null);
  if (response.ok && value !== null) return value;
  throw new Failed(response.status, value?.error?.message ?? `The server answered with status ${response.status}.`);
}

const part = encodeURIComponent;

export const get = {
  overview: (page, name, order, seconds) => ask("GET", `queues?${new URLSearchParams({ page, name, order, seconds })}`),
  queue: (core, seconds) => ask("GET", `queues/${part(core)}?seconds=${seconds}`),
  messages: (core, offset) => ask("GET", `queues/${part(core)}/messages?offset=${offset}`),
  message: (core, id) => ask("GET", `queues/${part(core)}/messages/${part(id)}`),
  timeline: (id) => ask("GET", `messages/${part(id)}`),
};

export const act = (core, action, given = {}) => ask("POST", `queues/${part(core)}/${action}`, given);

export const move = (given) => ask("POST", "time", given);
