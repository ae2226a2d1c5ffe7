#include "daemon/config/yaml_adapter.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <optional>
#include <sstream>

namespace kvtier {
namespace {

// Thrown through yaml-cpp to leave a document that has passed a limit; a malformed one can make events for
// ever.
struct LimitPassed {};

class TreeBuilder final : public YAML::EventHandler {
 public:
  TreeBuilder(std::string_view file, std::vector<Complaint>& complaints)
      : file_(file), complaints_(complaints) {}

  YamlNode take_root() {
    while (!open_.empty()) close();  // a document that broke off: keep what was read
    return std::move(root_);
  }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ == 1) return;
    complain(mark.line + 1, "has a second document", "remove everything from this \"---\" on");
    throw LimitPassed();
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add(node(YamlNode::Kind::kNull, mark, "?", anchor));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    complain(mark.line + 1, "has an alias (*)", "write the value out");
    add(node(YamlNode::Kind::kNull, mark, "?", 0));
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    YamlNode scalar = node(YamlNode::Kind::kScalar, mark, tag, anchor);
    scalar.text = value;
    scalar.is_quoted = tag == "!";
    add(std::move(scalar));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(node(YamlNode::Kind::kList, mark, tag, anchor));
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(node(YamlNode::Kind::kMap, mark, tag, anchor));
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    YamlNode node;
    std::optional<YamlMember> member;  // a key that waits for its value
  };

  void complain(int line, std::string what, std::string fix) {
    complaints_.push_back({std::string(file_), line, "", std::move(what), std::move(fix)});
  }

  YamlNode node(YamlNode::Kind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    const int line = mark.line + 1;
    if (++nodes_ > kYamlNodesMax) {
      complain(line, "has more than " + std::to_string(kYamlNodesMax) + " values", "shorten the file");
      throw LimitPassed();
    }
    if (anchor != 0) complain(line, "has an anchor (&)", "remove it");
    const bool is_explicit = tag != "?" && tag != "!" && !tag.empty();
    if (is_explicit) complain(line, "has a tag (" + tag.substr(0, 40) + ")", "remove it");
    YamlNode made;
    made.kind = kind;
    made.line = line;
    return made;
  }

  void open(YamlNode node) {
    if (open_.size() >= kYamlDepthMax) {
      complain(node.line, "is nested deeper than " + std::to_string(kYamlDepthMax) + " levels", "flatten it");
      throw LimitPassed();
    }
    open_.push_back({std::move(node), std::nullopt});
  }

  void close() {
    YamlNode done = std::move(open_.back().node);
    open_.pop_back();
    add(std::move(done));
  }

  void add(YamlNode child) {
    if (open_.empty()) {
      root_ = std::move(child);
    } else if (open_.back().node.kind == YamlNode::Kind::kList) {
      open_.back().node.items.push_back(std::move(child));
    } else if (!open_.back().member.has_value()) {
      open_.back().member = key_of(child);
    } else {
      add_member(open_.back(), std::move(child));
    }
  }

  YamlMember key_of(const YamlNode& key) {
    const bool is_word = key.kind == YamlNode::Kind::kScalar && !key.text.empty();
    if (!is_word) complain(key.line, "has a key that is not a word", "write name: value");
    if (is_word && key.text == "<<") complain(key.line, "has a merge key (<<)", "write the values out");
    const bool is_usable = is_word && key.text != "<<";
    return {is_usable ? key.text : std::string(), key.line, {}};
  }

  void add_member(Open& map, YamlNode value) {
    YamlMember member = std::move(*map.member);
    map.member.reset();
    if (member.key.empty()) return;  // already complained about
    const auto first = std::ranges::find(map.node.members, member.key, &YamlMember::key);
    if (first != map.node.members.end()) {
      complain(member.line, "\"" + member.key + "\" was given before, on line " + std::to_string(first->line),
               "keep one of the two");
      return;
    }
    member.value = std::move(value);
    map.node.members.push_back(std::move(member));
  }

  const std::string_view file_;
  std::vector<Complaint>& complaints_;
  YamlNode root_;
  std::vector<Open> open_;
  std::size_t nodes_ = 0;
  int documents_ = 0;
};

int line_of(std::string_view text, std::size_t at) {
  return 1 + static_cast<int>(std::ranges::count(text.substr(0, at), '\n'));
}

// Refuses what yaml-cpp would guess about or pass over: other encodings (they have NUL bytes), control
// characters, directives.
std::optional<Complaint> check_bytes(std::string_view text, std::string_view file) {
  if (text.size() > kYamlBytesMax)
    return Complaint{std::string(file), 0, "", "has " + std::to_string(text.size()) + " bytes",
                     "at most " + std::to_string(kYamlBytesMax) + " are read"};
  const std::size_t directive = text.starts_with('%') ? 0 : text.find("\n%");
  if (directive != std::string_view::npos)
    return Complaint{std::string(file), line_of(text, directive + 1), "", "has a directive (%)",
                     "remove the line"};
  const auto bad = std::ranges::find_if(text, [](unsigned char c) {
    return (c < 0x20 && c != '\n' && c != '\r' && c != '\t') || c == 0x7f || c == 0xff || c == 0xfe;
  });
  if (bad == text.end()) return std::nullopt;
  const int line = line_of(text, static_cast<std::size_t>(bad - text.begin()));
  return Complaint{std::string(file), line, "", "has a control character or is not UTF-8",
                   "save it as UTF-8 text"};
}

// YAML knows spaces only; what yaml-cpp says of a tab names no tab. Lines count from 1.
bool is_indented_by_tab(std::string_view text, int line) {
  std::size_t at = 0;
  for (int i = 1; i < line && at < text.size(); ++i) at = std::min(text.find('\n', at), text.size() - 1) + 1;
  const std::string_view rest = text.substr(at);
  const std::size_t word = rest.find_first_not_of(" \t");
  return rest.substr(0, word).find('\t') != std::string_view::npos;
}

// False: it is no YAML from some line on, so what came before may be cut in two.
bool run_parser(std::string_view text, std::string_view file, TreeBuilder& builder,
                std::vector<Complaint>& complaints) {
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    if (parser.HandleNextDocument(builder)) parser.HandleNextDocument(builder);
    return true;
  } catch (const LimitPassed&) {
    return true;  // the builder has said which
  } catch (const YAML::Exception& error) {
    const int line = error.mark.line + 1;
    if (is_indented_by_tab(text, line)) {
      complaints.push_back({std::string(file), line, "", "is indented by a tab", "use spaces"});
    } else {
      complaints.push_back({std::string(file), line, "", "is not YAML: " + error.msg, "correct the line"});
    }
  } catch (const std::exception& error) {
    complaints.push_back({std::string(file), 0, "", std::string("cannot be parsed: ") + error.what(), ""});
  }
  return false;
}

}  // namespace

YamlNode parse_yaml(std::string_view text, std::string_view file, std::vector<Complaint>& complaints) {
  YamlNode root;
  if (std::optional<Complaint> bad = check_bytes(text, file)) {
    complaints.push_back(std::move(*bad));
  } else {
    TreeBuilder builder(file, complaints);
    // Of half a tree nothing true can be said, such as that a section is empty.
    if (run_parser(text, file, builder, complaints)) root = builder.take_root();
  }
  if (root.kind == YamlNode::Kind::kNull) root.kind = YamlNode::Kind::kMap;
  return root;
}

}  // namespace kvtier
