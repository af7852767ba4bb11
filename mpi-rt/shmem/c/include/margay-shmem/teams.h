/* Teams (9.4) and contexts (9.5). */

int SHMEM_NAME(team_my_pe)(shmem_team_t team);
int SHMEM_NAME(team_n_pes)(shmem_team_t team);
int SHMEM_NAME(team_get_config)(shmem_team_t team, long config_mask, shmem_team_config_t *config);
int SHMEM_NAME(team_translate_pe)(shmem_team_t src_team, int src_pe, shmem_team_t dest_team);
int SHMEM_NAME(team_split_strided)(
    shmem_team_t parent_team, int start, int stride, int size, const shmem_team_config_t *config,
    long config_mask, shmem_team_t *new_team);
int SHMEM_NAME(team_split_2d)(
    shmem_team_t parent_team, int xrange, const shmem_team_config_t *xaxis_config, long xaxis_mask,
    shmem_team_t *xaxis_team, const shmem_team_config_t *yaxis_config, long yaxis_mask,
    shmem_team_t *yaxis_team);
void SHMEM_NAME(team_destroy)(shmem_team_t team);

int SHMEM_NAME(ctx_create)(long options, shmem_ctx_t *ctx);
int SHMEM_NAME(team_create_ctx)(shmem_team_t team, long options, shmem_ctx_t *ctx);
void SHMEM_NAME(ctx_destroy)(shmem_ctx_t ctx);
int SHMEM_NAME(ctx_get_team)(shmem_ctx_t ctx, shmem_team_t *team);
