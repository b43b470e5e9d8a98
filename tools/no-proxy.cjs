/** Requests to this machine bypass a proxy of the environment. Child processes inherit it. */
const stated = process.env.NO_PROXY ?? process.env.no_proxy;
const hosts = [stated, '127.0.0.1', 'localhost'].filter(Boolean).join(',');
process.env.NO_PROXY = process.env.no_proxy = hosts;
