module.exports = requireOnce('n8n-core');
