/* A module that has a command bf.add of its own, as Redis 8 does: ours must say so and stay out. */

typedef int (*GetApi)(const char *, void *);
typedef int (*Command)(void *, void **, int);
typedef void (*SetAttributes)(void *, const char *, int, int);
typedef int (*CreateCommand)(void *, const char *, Command, const char *, int, int, int);
typedef int (*ReplyWithNull)(void *);

static ReplyWithNull reply_with_null;

static int add(void *context, void **arguments, int count) {
    (void)arguments, (void)count;
    return reply_with_null(context);
}

int RedisModule_OnLoad(void *context, void **arguments, int count) {
    (void)arguments, (void)count;
    /* The server puts the function that finds all others first in a context. */
    GetApi get_api = ((GetApi *)context)[0];
    SetAttributes set_attributes;
    CreateCommand create_command;
    get_api("RedisModule_SetModuleAttribs", &set_attributes);
    get_api("RedisModule_CreateCommand", &create_command);
    get_api("RedisModule_ReplyWithNull", &reply_with_null);
    set_attributes(context, "bf", 1, 1);
    return create_command(context, "bf.add", add, "write", 1, 1, 1);
}
