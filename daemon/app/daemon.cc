#include "daemon/app/daemon.h"

#include "daemon/app/store_options.h"
#include "daemon/config/cross_checks.h"
#include "daemon/config/describe.h"
#include "daemon/config/memory_limits.h"
#include "daemon/config/reload.h"
#include "daemon/flow/stats.h"
#include "libkvclient/base/units.h"

namespace kvtier {

Result<std::unique_ptr<Daemon>> Daemon::create(std::shared_ptr<const Config> config,
                                               std::unique_ptr<FdStore> fds) {
  std::unique_ptr<Daemon> daemon(new Daemon);
  daemon->config_ = std::move(config);
  daemon->fds_ = std::move(fds);
  Result<Place> place = take_place(*daemon->config_);
  if (!place.is_ok()) return place.status();
  daemon->place_ = std::move(place).value();
  KV_RETURN_IF_ERROR(daemon->open_observation());
  KV_RETURN_IF_ERROR(daemon->open_store());
  KV_RETURN_IF_ERROR(daemon->open_conductor());
  KV_RETURN_IF_ERROR(daemon->open_admin());
  daemon->make_runners();
  return daemon;
}

Daemon::~Daemon() {
  stop();
}

Status Daemon::open_observation() {
  Result<Counters> counters =
      Counters::create({.path = config_->runtime_dir + "/counters", .instance = config_->instance}, clock_);
  if (!counters.is_ok()) return counters.status();
  counters_ = std::make_unique<Counters>(std::move(counters).value());
  errors_ = std::make_unique<ErrorLog>(*counters_, clock_);
  log_ = std::make_unique<Log>(
      LogOptions{.level = config_->log.level, .target = config_->log.target, .is_json = config_->log.is_json},
      errors_.get(), counters_.get());
  return Status::ok();
}

Status Daemon::open_store() {
  progress_ = std::make_unique<ProgressFdStore>(*fds_, config_->host.bytes, clock_);
  const Result<MemoryLimits> limits = read_memory_limits();
  if (limits.is_ok()) {
    const MemoryDemand demand{.overhead_bytes = table_bytes(*config_), .held_bytes = fds_->held_bytes()};
    KV_RETURN_IF_ERROR(check_memory_fits(*config_, limits.value(), demand));
  }
  KV_RETURN_IF_ERROR(check_descriptors(*config_));
  open_tier();
  StoreOptions options = store_options(*config_);
  options.disk = tier_ != nullptr ? &tier_->port() : nullptr;
  options.is_disk_absent = tier_ == nullptr && !config_->nvme.paths.empty();
  options.on_cold = [this](const std::string& reason) {
    log_->warn("cold start: the memory of the earlier instance cannot be taken over and is dropped",
               {{"cause", reason}});
  };
  options.slab_done = [progress = progress_.get()] { progress->go_on(); };
  KV_RETURN_IF_ERROR(choose_pages(limits, options));
  Result<std::unique_ptr<Store>> store = Store::create(options, clock_, *progress_);
  progress_->finish();
  if (!store.is_ok()) return store.status();
  store_ = std::move(store).value();
  describe_spaces();
  const StoreStats& stats = store_->stats();
  if (config_->host.huge_pages != Need::kOff && !is_warm() && stats.host_bytes_huge < stats.host_bytes) {
    log_->info("part of the host tier is in ordinary pages: the kernel found no more huge ones",
               {{"huge_bytes", stats.host_bytes_huge}, {"host_bytes", stats.host_bytes}});
  }
  if (!store_->lock_refusal().is_ok()) {
    log_->info(
        "not all of the host tier is locked: blocks may reach swap",
        {{"locked_bytes", store_->stats().host_bytes_locked}, {"cause", store_->lock_refusal().message()}});
  }
  if (is_warm()) {
    log_->info("warm start", {{"blocks_to_verify", store_->unverified_count()},
                              {"blocks_dropped", store_->stats().adoption_dropped},
                              {"fd_store", fds_->kind()}});
  }
  return Status::ok();
}

// Huge pages that were set aside for all of the tier; otherwise those that the kernel finds, or a refusal.
Status Daemon::choose_pages(const Result<MemoryLimits>& limits, StoreOptions& options) {
  if (config_->host.huge_pages == Need::kOff) return Status::ok();
  const std::uint64_t free = limits.is_ok() ? limits.value().huge_pages_free_bytes : 0;
  options.pages = free >= config_->host.bytes ? SlabPages::kSetAside : SlabPages::kGathered;
  if (options.pages != SlabPages::kSetAside && config_->host.huge_pages == Need::kRequire) {
    return {Code::kNoSpace, "host.huge_pages is require; host.bytes is " + format_size(config_->host.bytes) +
                                " and " + format_size(free) +
                                " of huge pages are free: raise vm.nr_hugepages or lower host.bytes"};
  }
  return Status::ok();
}

Status Daemon::open_conductor() {
  const ConductorOptions options{.clients_max = config_->limits.clients_max,
                                 .namespaces = config_->namespaces,
                                 .is_disk_first = config_->nvme.recover == NvmeRecover::kBeforeReady};
  Result<std::unique_ptr<Conductor>> conductor =
      Conductor::create(options, *store_, *log_, std::move(place_.listener));
  if (!conductor.is_ok()) return conductor.status();
  conductor_ = std::move(conductor).value();
  if (tier_ != nullptr) tier_->set_conductor(*conductor_);
  Result<std::unique_ptr<EventfdWaiter>> waiter = EventfdWaiter::create();
  if (!waiter.is_ok()) return waiter.status();
  checksum_waiter_ = std::move(waiter).value();
  checksums_ = std::make_unique<ChecksumAgent>(*checksum_waiter_, *conductor_);
  return Status::ok();
}

Status Daemon::open_admin() {
  AdminServerOptions options;
  if (place_.admin_group) options.admin_gids.push_back(*place_.admin_group);
  options.facts.version = KVTIER_VERSION;
  options.facts.instance = config_->instance;
  options.facts.runtime_dir = config_->runtime_dir;
  options.facts.counters_path = config_->runtime_dir + "/counters";
  options.facts.config_json = render_config_rows(describe(*config_));
  options.facts.socket = config_->socket;
  options.facts.fd_store = fds_->kind();
  options.facts.cold_reason = store_->cold_reason();
  options.facts.is_warm = is_warm();
  options.facts.started_ns = clock_.now_ns();
  options.facts.nvme = tier_facts_;
  if (tier_ != nullptr) options.facts.nvme_now = &tier_->snapshot();
  if (tier_ != nullptr) options.disk = &tier_->channel();
  Result<std::unique_ptr<AdminServer>> admin =
      AdminServer::create(std::move(options), std::move(place_.admin_listener), *conductor_);
  if (!admin.is_ok()) return admin.status();
  admin_ = std::move(admin).value();
  round_ =
      std::make_unique<ConductorRound>(*conductor_, *store_, *checksums_, admin_->port(), *counters_, *log_);
  return Status::ok();
}

void Daemon::make_runners() {
  conductor_runner_ = std::make_unique<AgentRunner>(
      *round_, *round_, clock_,
      AgentLoopOptions{.spin_ns = config_->conductor.spin_ns, .heartbeat = &counters_->heartbeat_cell()});
  round_->publish(conductor_runner_->load());
  if (tier_ != nullptr) round_->watch(tier_facts_, tier_->snapshot());
  checksum_runner_ =
      std::make_unique<AgentRunner>(*checksums_, *checksum_waiter_, clock_, AgentLoopOptions{});
  if (tier_ != nullptr) {
    tier_runner_ = std::make_unique<AgentRunner>(tier_->agent(), tier_->waiter(), clock_, AgentLoopOptions{});
  }
  admin_runner_ = std::make_unique<AgentRunner>(*admin_, *admin_, clock_, AgentLoopOptions{});
}

Status Daemon::start() {
  publish_counters(*store_, *conductor_, *counters_);  // kvctl stat has numbers from READY=1 on
  KV_RETURN_IF_ERROR(checksum_runner_->start());
  if (tier_runner_ != nullptr) KV_RETURN_IF_ERROR(tier_runner_->start());
  KV_RETURN_IF_ERROR(conductor_runner_->start());
  KV_RETURN_IF_ERROR(admin_runner_->start());
  fds_->started();
  return Status::ok();
}

void Daemon::say_serving() {
  log_->info("serving",
             {{"socket", config_->socket}, {"host_bytes", config_->host.bytes}, {"fd_store", fds_->kind()}});
}

void Daemon::stop() {
  if (admin_runner_ != nullptr) admin_runner_->stop();
  close_tier();
  if (conductor_runner_ != nullptr) conductor_runner_->stop();
  if (checksum_runner_ != nullptr) checksum_runner_->stop();
  if (tier_runner_ == nullptr) return;
  tier_runner_.reset();
  if (!tier_->end()) log_->warn("the NVMe tier's device does not give memory back: it is left to it");
}

// The disk's agent is not asked: a device that hangs must not end a daemon that serves without it.
bool Daemon::is_frozen() const {
  const TimeNs now_ns = clock_.now_ns();
  return conductor_runner_->is_frozen(now_ns) || checksum_runner_->is_frozen(now_ns) ||
         admin_runner_->is_frozen(now_ns);
}

std::string Daemon::summary() const {
  return std::to_string(counters_->get(Counter::kSessions)) + " clients, " +
         std::to_string(counters_->get(Counter::kBlocksReady)) + " blocks, host tier " +
         format_size(config_->host.bytes);
}

void Daemon::reload(const ConfigLoad& loaded) {
  if (!loaded.is_ok()) {
    log_->error("reload refused, the old configuration stays", {{"cause", loaded.status().message()}});
    return;
  }
  for (const SettingChange& change : changed_settings(*config_, *loaded.config)) {
    log_->info(change.reload == Reload::kLive ? "setting changed" : "setting needs a restart",
               {{"path", change.path}, {"before", change.before}, {"after", change.after}});
  }
  config_ = with_live_settings(*config_, *loaded.config);
  log_->set_level(config_->log.level);
  conductor_runner_->set_spin_ns(config_->conductor.spin_ns);
  const bool is_taken =
      round_->hand_in({.namespaces = config_->namespaces, .limits = store_limits(*config_)}) &&
      admin_->set_config(render_config_rows(describe(*config_)));
  if (!is_taken) log_->warn("reload comes too fast; repeat it");
}

}  // namespace kvtier
